// The rooms of the house: imports point one way. The values everybody may hold (settings, log) stand beside them.

/** A rule that files under `from` import nothing of this project but `allowed`. */
function only(name, comment, from, allowed) {
  return {
    name,
    comment,
    severity: 'error',
    from: { path: from },
    to: { path: '^(src|web|test|bench)/', pathNot: allowed },
  }
}

/** Where threads and processes find their files. */
const ENTRIES = '^src/program/entries\\.ts$'

/** What any part of the server may import. */
const BASE = [
  '^src/(domain|contract)/',
  '^src/database/',
  '^src/blobs/blob-store\\.ts$',
  '^src/(config|log)\\.ts$',
  ENTRIES,
  '^src/program/version\\.ts$',
]

/** Of the capabilities above it, what each may import: so no two need each other. Keep the lists short. */
const MAY_IMPORT = {
  mail: [],
  thumbnails: [],
  files: ['thumbnails/(thumbnails|icons|covers)\\.ts$'],
  accounts: ['files/', 'mail/'],
  webhooks: [
    'accounts/sign-in/reauthentication\\.ts$',
    'accounts/sign-in\\.module\\.ts$',
    'mail/(outbox|mail-addresses\\.rows)\\.ts$',
  ],
  uploads: ['files/', 'thumbnails/thumbnails\\.ts$'],
  sharing: [
    'files/',
    'accounts/((api-keys|sign-in/sessions)\\.rows|authentication)\\.ts$',
    'mail/(outbox|mail-addresses\\.rows)\\.ts$',
    'thumbnails/thumbnails\\.ts$',
    'uploads/',
  ],
  downloads: [
    'accounts/authentication\\.ts$',
    'files/',
    'sharing/',
    'thumbnails/(thumbnails|icons|cards)\\.ts$',
    'uploads/hashing/',
  ],
  events: ['accounts/authentication\\.ts$', 'files/folders/'],
  contents: [
    'accounts/keys\\.ts$',
    'mail/(outbox|mail-addresses\\.rows)\\.ts$',
    'uploads/uploads\\.rows\\.ts$',
    '(settings|storage)\\.ts$',
  ],
  operations: [
    'accounts/',
    'contents/',
    'files/',
    'mail/(outbox|mail-addresses\\.rows)\\.ts$',
    'sharing/(reports|reports\\.rows|take-downs)\\.ts$',
    'thumbnails/(thumbnails|covers)\\.ts$',
    '(settings|storage)\\.ts$',
  ],
}

Object.entries(MAY_IMPORT).forEach(([capability, others], at, all) => {
  const above = all.slice(0, at).map(([name]) => name)
  const wrong = others.find((other) => other.includes('/') && !above.includes(other.split('/')[0]))
  if (wrong !== undefined) throw new Error(`${capability} may import what stands below it: ${wrong}`)
})

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or hide a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'domain-is-pure',
      comment: 'The rules of a file host need no library, no runtime and no other part of the program.',
      severity: 'error',
      from: { path: '^src/domain/' },
      // The one exception is knowledge, not machinery: the tables that tell a file's type, and passwords that people use.
      to: { pathNot: ['^src/domain/', '^node_modules/(mime-db|file-type|@zxcvbn-ts)/'] },
    },
    {
      name: 'contract-is-shapes',
      comment:
        'The contract is what server, command line and pages share: schemas, and nothing that answers by them.',
      severity: 'error',
      from: { path: '^src/contract/' },
      to: { pathNot: ['^src/(contract|domain)/', '^node_modules/zod/'] },
    },
    only('blobs', 'Stores know bytes and keys, and nothing of accounts or HTTP.', '^src/blobs/', [
      '^src/blobs/',
      '^src/domain/',
    ]),
    only('database', 'The engine, the schema and its migrations know no capability.', '^src/database/', [
      '^src/database/',
      '^src/domain/',
      ENTRIES,
    ]),
    only('core', 'What every capability needs knows none of them.', '^src/core/', ['^src/core/', ...BASE]),
    ...Object.entries(MAY_IMPORT).map(([capability, others]) =>
      only(
        capability,
        'A capability imports the base and, of the other capabilities, those on its list alone.',
        `^src/${capability}/`,
        [
          `^src/${capability}/`,
          '^src/core/',
          '^src/server/',
          ...BASE,
          ...others.map((other) => `^src/${other}`),
        ],
      ),
    ),
    {
      name: 'upload-routes-translate',
      comment:
        'Who may upload, repeated requests and reservations are rules of the upload core, whatever brings the bytes.',
      severity: 'error',
      from: { path: '^src/(pages/|uploads/.*\\.routes\\.ts$|uploads/resumable/tus-[^/]+$)' },
      to: {
        path: '^src/uploads/(guest-admission|idempotency|request-uploads|reservations)\\.ts$',
      },
    },
    {
      name: 'rows-know-rows',
      comment: 'Queries know tables and the values of the domain, and neither rules nor routes.',
      severity: 'error',
      from: { path: '\\.rows\\.ts$' },
      to: {
        path: '^src/',
        pathNot: ['\\.rows\\.ts$', '^src/(database|domain)/'],
      },
    },
    only(
      'server',
      'The HTTP machinery knows no capability: modules.ts names what they give, and routes.ts what they answer.',
      '^src/server/(?!(modules|routes)\\.ts$)',
      ['^src/server/', '^src/core/', ...BASE],
    ),
    only(
      'pages',
      'Pages show what the capabilities tell them, and are rendered on the server.',
      '^src/pages/',
      [
        '^src/(pages|server|core|accounts|downloads|files|sharing|uploads)/',
        '^src/thumbnails/(thumbnails|icons)\\.ts$',
        ...BASE,
        '^web/',
      ],
    ),
    {
      name: 'pages-know-the-browser',
      comment:
        'Pages share components and types with the browser. A server in a package has no more of web than its build.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/pages/(views/|texts/|render\\.ts$)' },
      to: { path: '^web/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'browser-knows-the-shape-of-texts',
      comment: 'What a page says comes as JSON in the language of its reader; the English is its type.',
      severity: 'error',
      from: { path: '^web/' },
      to: { path: '^src/pages/texts/', dependencyTypesNot: ['type-only'] },
    },
    only(
      'browser',
      'What runs in the browser knows the values of the domain, the policy of all clients, and the server by the contract.',
      '^web/(start|uploads|file|folder|files|reference|settings|admin|sign-in|shared|viewer)/',
      [
        '^web/(start|uploads|file|folder|files|reference|settings|admin|sign-in|shared|viewer)/',
        '^src/(domain|contract)/',
        '^src/client/policy/',
        '^src/pages/texts/[^/]*en\\.ts$',
      ],
    ),
    only(
      'client-policy',
      // Not in domain/: when a client asks again is no rule of a file host. Not in web/: the command line imports no page.
      'What a client does after a failure is decided once for the command line and the pages, by pure functions.',
      '^src/client/policy/',
      ['^src/client/policy/', '^src/domain/'],
    ),
    only('client', 'The client knows a server by the contract and its protocols alone.', '^src/client/', [
      '^src/client/',
      '^src/(domain|contract)/',
    ]),
    only(
      'command-line',
      'Commands get their modules from app.ts, contents/ and operations/, or are those of the client.',
      '^src/(cli/|main\\.ts$)',
      [
        '^src/cli/',
        '^src/client/',
        '^src/(domain|contract)/',
        '^src/operations/(administration|database-check|migration-time|secrets|takeover|doctor/doctor)\\.ts$',
        '^src/contents/(check|mirror|mirror-reading|mark-copies|backup|restore|damage|drill|relocation|copying|walk)\\.ts$',
        '^src/(app|config|config/(config-problems|environment)|settings|log|program/(bundle|version))\\.ts$',
      ],
    ),
    only(
      'settings',
      'Settings and log depend on nobody who uses them.',
      '^src/(config/|(config|settings|log)\\.ts$)',
      ['^src/(config/|(config|settings|log)\\.ts$)', '^src/domain/'],
    ),
    {
      name: 'adapters-in-app',
      comment: 'Only storage.ts names an adapter; everybody else holds the port.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(storage\\.ts$|blobs/)' },
      to: { path: '^src/blobs/', pathNot: '^src/blobs/blob-store\\.ts$' },
    },
    {
      name: 'thumbnail-maker-in-its-part',
      comment: 'Only thumbnails.module.ts names who makes thumbnails; everybody else holds the port.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/thumbnails/' },
      to: { path: '^src/thumbnails/local-maker\\.ts$' },
    },
    {
      name: 'postman-in-app',
      comment:
        'Only mail.module.ts, and app.ts for the test mail, names who hands mails over; everybody else holds the port.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(app\\.ts$|mail/)' },
      to: { path: '^src/mail/smtp\\.ts$' },
    },
    {
      name: 'no-unknown-packages',
      comment: 'What the program imports is in its own dependencies; the pages are bundled by the build.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/pages/(views/|render\\.ts$)' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] },
    },
    {
      name: 'no-missing-files',
      comment: 'Every import leads somewhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^bun(:|$)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(package\\.json$|dist/|web/dist/)' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['bun', 'import', 'node', 'default', 'types'],
    },
  },
}
