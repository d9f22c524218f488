// The layers of the house: imports point one way. The values everybody may hold (settings, log) stand beside them.

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
    only('blobs', 'Stores know bytes and keys, and nothing of accounts or HTTP.', '^src/blobs/', [
      '^src/blobs/',
      '^src/domain/',
    ]),
    only('database', 'Queries know tables and the values of the domain.', '^src/database/', [
      '^src/database/',
      '^src/domain/',
    ]),
    only(
      'services',
      'Use cases know the domain, the database and the stores, but not who asks.',
      '^src/services/',
      [
        '^src/services/',
        '^src/domain/',
        '^src/database/',
        '^src/blobs/',
        '^src/thumbnails/maker\\.ts$',
        '^src/mail/postman\\.ts$',
        '^src/(config|log)\\.ts$',
      ],
    ),
    only('thumbnails', 'Who makes a picture small has its bytes and nothing else.', '^src/thumbnails/', [
      '^src/thumbnails/',
      '^src/domain/',
      '^src/log\\.ts$',
    ]),
    only(
      'mail',
      'Who puts letters into words and hands them over knows nobody who writes them.',
      '^src/mail/',
      ['^src/mail/', '^src/domain/', '^src/config\\.ts$'],
    ),
    only(
      'http',
      'Routes parse, call a service and answer; they never reach past the services.',
      '^src/http/',
      ['^src/http/', '^src/services/', '^src/metrics/', '^src/domain/', '^src/(config|log)\\.ts$', '^web/'],
    ),
    only('metrics', 'Who counts knows nothing of what is counted.', '^src/metrics/', ['^src/metrics/']),
    {
      name: 'pages-know-the-browser',
      comment:
        'Pages share components and types with the browser. A server in a package has no more of web than its build.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/http/site/(pages/|texts/|render\\.ts$)' },
      to: { path: '^web/', dependencyTypesNot: ['type-only'] },
    },
    only(
      'browser',
      'What runs in the browser knows the values of the domain, and the server by its interfaces.',
      '^web/(start|file|folder|files|reference|settings|admin|sign-in|shared)/',
      ['^web/(start|file|folder|files|reference|settings|admin|sign-in|shared)/', '^src/domain/'],
    ),
    only('jobs', 'What runs by itself calls services.', '^src/jobs/', [
      '^src/jobs/',
      '^src/services/',
      '^src/domain/',
      '^src/(config|log)\\.ts$',
    ]),
    only('client', 'The client knows a server by its protocols alone.', '^src/client/', [
      '^src/client/',
      '^src/domain/',
    ]),
    only(
      'command-line',
      'Commands get their parts from app.ts, administration.ts, relocate.ts, secret-rotation.ts and takeover.ts, or are those of the client.',
      '^src/(cli/|main\\.ts$)',
      [
        '^src/cli/',
        '^src/client/',
        '^src/domain/',
        '^src/(app|administration|relocate|secret-rotation|takeover|config|settings|log)\\.ts$',
      ],
    ),
    only('settings', 'Settings and log depend on nobody who uses them.', '^src/(config|settings|log)\\.ts$', [
      '^src/(config|settings|log)\\.ts$',
      '^src/domain/',
    ]),
    {
      name: 'adapters-in-app',
      comment: 'Only storage.ts names an adapter; everybody else holds the port.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(storage\\.ts$|blobs/)' },
      to: { path: '^src/blobs/', pathNot: '^src/blobs/blob-store\\.ts$' },
    },
    {
      name: 'thumbnail-maker-in-app',
      comment: 'Only app.ts names who makes thumbnails; everybody else holds the port.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(app\\.ts$|thumbnails/)' },
      to: { path: '^src/thumbnails/', pathNot: '^src/thumbnails/maker\\.ts$' },
    },
    {
      name: 'postman-in-app',
      comment: 'Only app.ts names who hands mails over; everybody else holds the port.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(app\\.ts$|mail/)' },
      to: { path: '^src/mail/', pathNot: '^src/mail/postman\\.ts$' },
    },
    {
      name: 'no-unknown-packages',
      comment: 'What the program imports is in its own dependencies; the pages are bundled by the build.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/http/site/(pages/|render\\.ts$)' },
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
    exclude: { path: '^(package\\.json$|web/dist/)' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['bun', 'import', 'node', 'default', 'types'],
    },
  },
}
