/** Keys, sessions, passwords, codes and lock-outs. */
import { type Change, changesIn, one } from '../change.ts'

const times = { tests: ['test/unit/accounts/sign-in/times.test.ts'] }
const lockout = (named: string) => one('test/server/accounts/sign-in/lockout.test.ts', named)
const codeStep = (named: string) => one('test/server/accounts/sign-in/code-step.test.ts', named)
const signIn = (named: string) => one('test/cluster/accounts/sign-in/sign-in.test.ts', named)
const tenWrong = lockout('a known browser has ten wrong passwords')
const fiveCodes = codeStep('has five codes looked at')
const oneSession = codeStep('leads to one session')
const rows = {
  tests: ['test/cluster/accounts/sign-in/sign-in-rows.contract.test.ts'],
  named: 'SQLite',
}
const revoking = { tests: ['test/cluster/accounts/keys.test.ts'], named: 'by its beginning' }
const fullKey = {
  tests: ['test/server/accounts/sign-in/authentication.test.ts'],
  named: 'that was revoked is refused everywhere',
}
const keyedRequests = { tests: ['test/cluster/accounts/keyed-requests.contract.test.ts'] }
const keyRates = {
  tests: ['test/cluster/core/rate-limits/rate-limits.contract.test.ts'],
  named: 'the rates of keys in memory',
}

export const accounts: readonly Change[] = [
  ...changesIn('src/files/folders/folders.ts', { tests: ['test/unit/accounts/removed-account.test.ts'] }, [
    ['if (chain.some((step) => step.deleted_at !== null)) throw folderNotFound()', ''],
  ]),
  ...changesIn(
    'src/accounts/sign-in/second-factor.ts',
    { tests: ['test/unit/accounts/sign-in/totp.test.ts'] },
    [
      ['const WINDOW = 1', 'const WINDOW = 2'],
      ['const WINDOW = 1', 'const WINDOW = 0'],
      ['Math.floor(now / STEP) + delta', 'Math.floor(now / STEP)'],
    ],
  ),
  ...changesIn('src/accounts/sign-in/second-factor.ts', rows, [
    ["row('last_step', '<', step)", "row('last_step', '<=', step)"],
    [
      ".where('account_id', '=', account)\n    .where('verified', '=', 1)",
      ".where('account_id', '=', account)",
    ],
  ]),
  ...changesIn('src/accounts/sign-in/second-factor.ts', signIn('codes come after'), [
    ['if (!codes.includes(code)) throw wrongCode()', ''],
    ['codes.filter((each) => each !== code)', 'codes'],
  ]),
  ...changesIn('src/accounts/sign-in/sign-in.ts', oneSession, [
    ['counted.tries <= CODES_PER_PASSWORD', 'counted.tries < CODES_PER_PASSWORD', fiveCodes],
    ['counted.tries <= CODES_PER_PASSWORD', 'true', fiveCodes],
    [
      'if (hash === null || tagOf(hash) !== tag) throw tooLate()',
      'if (hash === null) throw tooLate()',
      {
        explained:
          'the look before has compared the tag; this one is for a password that changes between the two',
      },
    ],
    [
      'step === null || hash === null || tagOf(hash) !== step.tag',
      'step === null || hash === null',
      { explained: 'the look inside the transaction compares the tag again' },
    ],
    ['if ((await given.take(trx, browser)) === null) throw tooLate()', ''],
    [
      'if (kept?.verified !== 1) throw codesNotSetUp()',
      'if (kept === undefined) throw codesNotSetUp()',
      {
        explained:
          'codes that do not count yet are asked of nobody: the account says so only once they count',
      },
    ],
    ['await countCode(given, db, browser)', '', fiveCodes],
  ]),
  ...changesIn('src/accounts/sign-in/challenges.ts', rows, [
    ['row.expires_at <= now', 'row.expires_at < now'],
    [".where('expires_at', '>', now)", ".where('expires_at', '>=', now)"],
    [".where('value', '=', before)", ''],
  ]),
  ...changesIn('src/accounts/sign-in/sign-in.ts', signIn('guessing is limited by address'), [
    ['const TRIES_PER_ADDRESS = 10', 'const TRIES_PER_ADDRESS = 11'],
    ['const TRIES_PER_BROWSER = 10', 'const TRIES_PER_BROWSER = 11', tenWrong],
    ['if (!(await verifyPassword(password, hash))) throw wrongPassword()', ''],
    ["if (password !== '') await hashPassword(password)", '', lockout('costs one hashing')],
    ['.two_factor === 1', '.two_factor !== 1', codeStep('begins no session')],
    ['known === null\n          ? [', 'known !== null\n          ? [', tenWrong],
  ]),
  ...changesIn('src/accounts/sign-in/sign-in.ts', lockout('a browser is known to one account'), [
    ['entry !== undefined && entry.t === tagOf(passwordHash)', 'entry !== undefined'],
    [
      '.find(({ a }) => a === account)',
      '.at(0)',
      { explained: 'the tag is of one account’s password, so that of another never fits' },
    ],
  ]),
  ...changesIn('src/accounts/sign-in/reauthentication.ts', times, [
    [
      'clock.now() < by.provedAt + REAUTHENTICATION_LASTS',
      'clock.now() <= by.provedAt + REAUTHENTICATION_LASTS',
    ],
    ['if (password === null) assertRecent(caller)', 'if (password === null) return'],
    ['const TRIES = 10', 'const TRIES = 11'],
    ['hash !== null && (await verifyPassword(password, hash))', 'hash !== null'],
    ["await sessions.prove(caller, 'password')", ''],
  ]),
  ...changesIn('src/accounts/sign-in/sessions.ts', times, [
    ['Math.min(holder.expires_at, ends) <= now', 'Math.min(holder.expires_at, ends) < now'],
    [
      'Math.min(holder.expires_at, ends) <= now',
      'holder.expires_at <= now',
      { explained: 'no session is written that lasts longer than its end' },
    ],
    ['if (holder.disabled_at !== null) throw accountDisabled()', ''],
    [
      'expires_at: Math.min(now + SESSION_LASTS, ends)',
      'expires_at: now + SESSION_LASTS',
      { explained: 'the end is taken into account when the session is looked at, too' },
    ],
    ['now - holder.updated_at >= WRITTEN_EVERY', 'now - holder.updated_at > WRITTEN_EVERY'],
    [
      'if (now < by.provedAt + REAUTHENTICATION_LASTS) return',
      '',
      { tests: ['test/cluster/accounts/sign-in/reauthentication.test.ts'], named: 'the audit log' },
    ],
  ]),
  ...changesIn('src/accounts/sign-in/sessions.rows.ts', times, [
    ['row.expires_at <= now ? null', 'row.expires_at < now ? null'],
    [
      ".where('sessions.id', '=', hiddenFromSqlite(db, session))\n    .where('accounts.disabled_at', 'is', null)",
      ".where('sessions.id', '=', hiddenFromSqlite(db, session))",
    ],
  ]),
  ...changesIn('src/accounts/authentication.ts', times, [
    [
      'caller.expiresAt !== null && caller.expiresAt <= now',
      'caller.expiresAt !== null && caller.expiresAt < now',
    ],
    ['if (disabledAt !== null) throw accountDisabled()', ''],
    ['present === null || present !== version ||', 'present === null ||'],
    [".where(isWanted)\n      .where('api_keys.revoked_at', 'is', null)", '.where(isWanted)'],
  ]),
  ...changesIn('src/accounts/keyed-requests.ts', keyedRequests, [
    ['          where api_keys.revoked_at is null\n', ''],
    ['holder.expires_at > terms.now', 'holder.expires_at >= terms.now'],
    ['where holder.disabled_at is null and (', 'where ('],
  ]),
  ...changesIn('src/accounts/keyed-requests.ts', keyedRequests, [
    ['own !== null && all === null && ceiling !== null', 'all === null && ceiling === null'],
    ['used: window.used - left', 'used: window.used'],
    ['filter((row) => row.own !== null)', 'filter(() => true)'],
  ]),
  ...changesIn('src/accounts/keys.ts', times, [
    ['if (wanted.length > 1) {', 'if (wanted.length > 2) {', revoking],
    ['key.prefix === prefixOrId', 'key.prefix === key.name', revoking],
    ['String(key.id) === prefixOrId', 'key.name === prefixOrId', revoking],
    ['key.hash === hash && key.revoked_at === null', 'key.name === prefixOrId', fullKey],
  ]),
  ...changesIn('src/accounts/api-keys.rows.ts', times, [
    [
      ".where('api_keys.id', '=', id)\n    .where('api_keys.revoked_at', 'is', null)",
      ".where('api_keys.id', '=', id)",
    ],
    ['row.expires_at !== null && row.expires_at <= now', 'row.expires_at !== null && row.expires_at < now'],
  ]),
  ...changesIn('src/accounts/one-time-links.ts', times, [
    [".where('expires_at', '>', now)\n    .returningAll()", '.returningAll()'],
    [
      ".where('expires_at', '>', now)\n    .returningAll()",
      ".where('expires_at', '>=', now)\n    .returningAll()",
    ],
    [
      ".where('purpose', '=', purpose)\n    .where('expires_at', '>', now)\n    .returningAll()",
      ".where('expires_at', '>', now)\n    .returningAll()",
    ],
  ]),
  ...changesIn(
    'src/core/callers.ts',
    { tests: ['test/cluster/accounts/key-scopes.test.ts'], named: 'does what its scope says' },
    [['if (caller.scopes.includes(scope)) return', 'if (caller.scopes.length > 0) return']],
  ),
  ...changesIn('src/core/rate-limits/rate-limits.ts', keyRates, [
    ['if (!all.allowed) await rates.giveBack(subject, requests, own.openedAt)', ''],
    ['|| factor === 0', ''],
    ['const ceiling = limit * factor', 'const ceiling = limit * factor + 1'],
    ['own.remaining <= all.remaining ? own : all', 'own.remaining > all.remaining ? own : all'],
    ['if (!own.allowed || factor', 'if (factor'],
  ]),
  ...changesIn(
    'src/accounts/sign-in/sessions.ts',
    one('test/cluster/accounts/sign-in/sign-in.test.ts', 'that was ended elsewhere is refused with the'),
    [['endSessions(db, account, by.session)', 'endSessions(db, account, null)']],
  ),
  ...changesIn(
    'src/accounts/sign-in/sign-in.ts',
    one(
      'test/cluster/accounts/sign-in/password-change.test.ts',
      'a sign-in beside does not outlive a password',
    ),
    [['      if ((await findSettledPassword(trx, account)) !== hash) throw wrongPassword()\n', '']],
  ),
  ...changesIn(
    'src/accounts/keys.ts',
    one('test/cluster/accounts/keys.test.ts', 'makes none that can do more, and what is left'),
    [["key.folder === 'root' ? caller.within : key.folder", "key.folder === 'root' ? null : key.folder"]],
  ),
  ...changesIn(
    'src/accounts/account-administration.ts',
    one('test/server/accounts/sign-in/new-passwords.test.ts', 'when who made it is disabled'),
    [
      [
        "if (disabled === true || isAdmin === false) await dropOneTimeLinks(trx, 'invitation', id)",
        "if (isAdmin === false) await dropOneTimeLinks(trx, 'invitation', id)",
      ],
    ],
  ),
  ...changesIn(
    'src/accounts/account-administration.ts',
    one('test/cluster/operations/admin.test.ts', 'that are reset let nobody in until the link'),
    [['        await endSessions(trx, id, null)\n', '']],
  ),
  ...changesIn(
    'src/accounts/sign-in/second-factor.ts',
    one('test/cluster/accounts/sign-in/sign-in.test.ts', 'are not begun anew beside those that count'),
    [
      [
        'if ((await findAccount(trx, caller.account))?.two_factor === 1) {',
        'if ((await findAccount(trx, caller.account)) === undefined) {',
      ],
    ],
  ),
  ...changesIn(
    'src/accounts/sign-in/password-resets.ts',
    one('test/cluster/accounts/mail.test.ts', 'gets the same answer as nobody, who gets no'),
    [
      [
        'if (mail.address === null || (await findPassword(db, id)) === null) return null',
        'if (mail.address === null) return null',
      ],
    ],
  ),
]
