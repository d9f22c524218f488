/** Commands of the documentation that no test can run, and why. */

interface Exception {
  /** How the page's path ends; without it, on every page. */
  readonly page?: string
  /** Part of the block. */
  readonly command: RegExp
  readonly reason: string
}

export const EXCEPTED: readonly Exception[] = [
  {
    command: /^npm (ci|start|test|install|run test:all)/m,
    reason: 'installs, serves or tests: what has brought this test here',
  },
  {
    command: /^(sudo|docker|cd \/opt)/m,
    reason: 'changes the system; the files it names are tested in test/server/deploy',
  },
  {
    command: /^(pg_dump|pg_restore)/m,
    reason: 'needs a database under the name of the reader; backup.test.ts restores one',
  },
  {
    page: 'links.md',
    command: /^holdfast receive/m,
    reason: 'goes on until it is stopped; test/cluster/client/receiving.test.ts runs it',
  },
  {
    page: 'backup.md',
    command: /^rsync/m,
    reason: 'copies to another machine; backup.test.ts does the same here',
  },
  {
    page: 'api/README.md',
    command: /\/api\/v1\/events$/m,
    reason: 'never ends; events.test.ts reads the stream',
  },
  {
    page: 'relocate.md',
    command: /^holdfast relocate/m,
    reason: 'needs a stopped server; relocate.test.ts does it',
  },
  {
    page: 'resumable-uploads.md',
    command: /new Upload\(file,/,
    reason: 'needs the file of a form in a browser; start.test.ts sends such ones',
  },
  {
    page: 'command-line.md',
    command: /--folder ntxjntu38cgdtff0/,
    reason: 'needs a folder of an account that it makes; key.test.ts has both',
  },
  {
    page: 'doctor.md',
    command: /^holdfast doctor/m,
    reason: 'finds what is wrong with the set-up of the tests; doctor.test.ts runs it',
  },
  { page: 'upgrade.md', command: /^for node in/m, reason: 'needs Docker' },
]
