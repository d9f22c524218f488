/** Limits, leases, jobs, nodes and the clock. */
import { type Change, changesIn, one } from '../change.ts'

const rateWindows = {
  tests: ['test/cluster/core/rate-limits/rate-limits.contract.test.ts'],
  named: 'in memory|a node alone forgets',
}
const sharedWindows = { ...rateWindows, named: 'that nodes share|nodes that share' }
const jobs = {
  tests: ['test/cluster/core/jobs/jobs.contract.test.ts'],
  named: 'in memory|on SQLite|the jobs of a node',
}
const nodes = {
  tests: ['test/cluster/core/nodes/nodes.contract.test.ts'],
  named: 'nodes on SQLite|a node alone',
}
const outages = { tests: ['test/cluster/core/outages.contract.test.ts'], named: 'SQLite' }

const shares = { tests: ['test/unit/core/shares.test.ts'], named: '' }

export const core: readonly Change[] = [
  ...changesIn('src/core/shares.ts', shares, [
    ['holders + more.holders > most.holders', 'holders + more.holders >= most.holders'],
    ['size + more.size > most.size', 'size + more.size >= most.size'],
    ['if (isOver) return\n      isOver = true', 'isOver = true'],
    ['holder.isKnown ? null :', ''],
    ['held.usedAt < last.usedAt', 'held.usedAt > last.usedAt'],
    ['anyway ? Number.POSITIVE_INFINITY :', ''],
  ]),
  ...changesIn('src/domain/networks.ts', shares, [
    ['& 0xff00', '& 0xffff'],
    ['holders > 1) }', 'holders > 0) }'],
    ['(own?.[by] ?? 0) + needed', '(own?.[by] ?? 0)'],
  ]),
  ...changesIn('src/core/rate-limits/shared-rate-limits.ts', sharedWindows, [
    ['const mayFit = amount <= room', 'const mayFit = amount < room'],
    ['if (fits) left -= amount', 'if (fits) left -= 1'],
    ['window.used - this.amount()', 'window.used'],
  ]),
  ...changesIn('src/core/rate-limits/rate-limits.ts', rateWindows, [
    ['const allowed = window.used + amount <= limit', 'const allowed = window.used + amount < limit'],
    ['const allowed = window.used + amount <= limit', 'const allowed = window.used < limit'],
    ['window.used += amount', 'window.used += 1'],
    ['window?.openedAt !== openedAt', 'window === undefined'],
    ['Math.max(0, window.used - amount)', 'window.used - amount'],
    ['now >= window.endsAt ||', 'now > window.endsAt ||'],
    ['|| now < window.openedAt', ''],
    ['verdictOf(window, window.used + amount <= limit,', 'verdictOf(window, window.used <= limit,'],
    ['Math.ceil(Math.min(window.endsAt - now, length) / 1000)', 'Math.floor((window.endsAt - now) / 1000)'],
    ['remaining: Math.max(0, limit - window.used)', 'remaining: limit - window.used - 1'],
    ['if (windows.get(subject) === window) windows.delete(subject)', ''],
    ['used: row.used, unsaved: false', 'used: 0, unsaved: false'],
  ]),
  ...changesIn(
    'src/core/rate-limits/attempts.ts',
    { tests: ['test/unit/core/rate-limits/attempts.test.ts'] },
    [
      ['    await takeBack()\n    return result', '    return result'],
      ['    await takeBack()\n    throw error', '    throw error'],
      ['if (!verdict.allowed)', 'if (verdict.remaining === 0)'],
      ['queue.running < MAX_CONCURRENT', 'queue.running <= MAX_CONCURRENT'],
      ['queue.waiting.length >= MAX_QUEUED', 'queue.waiting.length > MAX_QUEUED'],
      ['if (next !== undefined) return next()', 'next?.()'],
      ['  } finally {\n    leave()\n  }', '  } finally {\n  }'],
    ],
  ),
  ...changesIn('src/core/core.ts', { tests: ['test/unit/core/clock-guard.test.ts'] }, [
    ['since = monotonic\n', ''],
    ['difference = present\n', ''],
    ['Math.abs(present - difference)', 'present - difference'],
    ['const LEAP = HOUR', 'const LEAP = 24 * HOUR'],
  ]),
  ...changesIn('src/core/outages.ts', outages, [
    ['now - last > LONG && this', 'now - last >= LONG && this'],
    ['now - last > LONG && this.#isAmiss(now)', 'now - last > LONG'],
    ['await insertOutage(trx, outage)', ''],
    ['await cutOutages(trx, now)', ''],
    ['if (now > last) await setLastRun(trx, now)', ''],
    [
      '      this.#hasFailed = true',
      '',
      { explained: 'the next regular note finds the same outage; it is only looked for sooner' },
    ],
    ['this.#parts.timers.monotonic() - this.#notedAt > LONG', 'false'],
  ]),
  ...changesIn('src/core/jobs/job-leases.ts', jobs, [
    ['>= (failures >= SET_ASIDE_AFTER ? DAY : every * TIMER_TOLERANCE)', '> DAY'],
    ['failures >= SET_ASIDE_AFTER ? DAY', 'failures > SET_ASIDE_AFTER ? DAY'],
    ['export const SET_ASIDE_AFTER = 5', 'export const SET_ASIDE_AFTER = 4'],
    ['|| ended_at > now', ''],
    [
      'return { ended_at: now, failures: 0, failure: null, failed_at: null }',
      'return { ended_at: now, failure: null, failed_at: null }',
    ],
    ["case 'left':\n      return {}", "case 'left':\n      return { ended_at: now }"],
    ['if (running.has(job)) return null', ''],
    ['if (running.has(job) || !nodes.isSurelyAlive()) return null', 'if (running.has(job)) return null'],
    ['row.holder === null || row.holder === node', 'row.holder === node'],
    ['nodes.id() === node && nodes.isSurelyAlive()', 'nodes.id() === node'],
    ['nodes.id() === node && nodes.isSurelyAlive()', 'nodes.isSurelyAlive()'],
    ['if (!isOurs) running.delete(job)', ''],
  ]),
  ...changesIn('src/core/jobs/job-leases.ts', jobs, [
    [
      ".where('node', 'is not distinct from', seenNode)",
      ".where((row) => row.or([row('node', 'is not distinct from', seenNode), row.lit(true)]))",
    ],
    [
      ".where('ended_at', 'is not distinct from', seenEnd)",
      ".where((row) => row.or([row('ended_at', 'is not distinct from', seenEnd), row.lit(true)]))",
    ],
    [
      ".set({ node: null, ...noted })\n    .where('name', '=', name)\n    .where('node', '=', node)",
      ".set({ node: null, ...noted })\n    .where('name', '=', name)",
    ],
  ]),
  ...changesIn('src/core/nodes/nodes.ts', nodes, [
    ['const DEAD_AFTER = 30 * SECOND', 'const DEAD_AFTER = 20 * SECOND'],
    ['began - before.since >= DEAD_AFTER', 'began - before.since > DEAD_AFTER'],
    [
      'const SURELY_ALIVE_FOR = DEAD_AFTER - 2 * HEARTBEAT_INTERVAL',
      'const SURELY_ALIVE_FOR = DEAD_AFTER + 2 * HEARTBEAT_INTERVAL',
    ],
    ['now - lookBegan > MAX_CHECK_GAP', 'false'],
    ['before?.beats !== other.beats', 'before === undefined'],
    ['if (await recordHeartbeat(db, id)) {', 'if ((await recordHeartbeat(db, id)) || true) {'],
    ['if (alone) followsCrash = (await removeAllNodes(trx)) > 0', ''],
    ['        beatAt = now\n', ''],
  ]),
  ...changesIn(
    'src/core/hmac.ts',
    { tests: ['test/unit/downloads/signed-tokens.test.ts', 'test/unit/core/hmac.test.ts'] },
    [
      ['|| !timingSafeEqual(expected, given)', ''],
      ['purpose}\\n$', 'text.slice(0, 0)}$'],
      ['rest.length > 0', 'false'],
      ['.slice(0, 16)', '.slice(0, 1)'],
    ],
  ),
  ...changesIn(
    'src/core/jobs/jobs.ts',
    one('test/cluster/core/jobs/jobs.contract.test.ts', 'that can say whether they have work claim'),
    [['< RUN_ANYWAY && !(await hasWork())) return true', '< RUN_ANYWAY || !(await hasWork())) return true']],
  ),
]
