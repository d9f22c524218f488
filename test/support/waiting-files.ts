/** Which test files wait for much of their time, so that they may run beside others, and for what. */

const WAITING: Readonly<Record<string, string>> = {
  'test/browser/start-nodes.test.ts': 'half a minute until a node is taken for dead',
  'test/browser/start-resuming.test.ts': 'lines that are slow, and browsers and servers that start again',
  'test/cli/relocate.test.ts': 'commands that start, one after another',
  'test/contracts/s3-faults.test.ts': 'tries of a request, further and further apart',
  'test/contracts/s3-read-faults.test.ts': 'tries of a request, further and further apart',
  'test/contracts/s3-resuming.test.ts': 'tries of a request, further and further apart',
  'test/faults/bad-line.test.ts': 'lines that are slow, and a node that is to be taken for dead',
  'test/faults/crash.test.ts': 'servers that start, one after another',
  'test/faults/database-away.test.ts': 'a database that stands still',
  'test/faults/dead-nodes.test.ts': 'half a minute until a node is taken for dead',
  'test/faults/lost-commits.test.ts': 'ten seconds in which a database might come back',
  'test/faults/postgres-crashes.test.ts':
    'a database that starts, again and again, and commits that are slow',
  'test/faults/shutdown.test.ts': 'half a minute that a stopping server gives uploads',
  'test/faults/slow-clients.test.ts': 'minutes of a clock, and lines that are slow',
  'test/faults/store-away.test.ts': 'tries of a request, further and further apart',
  'test/faults/tus-kills.test.ts': 'servers that start, one after another',
  'test/faults/tus-nodes.test.ts': 'half a minute until a node is taken for dead',
  'test/http/expiry-rhythm.test.ts': 'a job that comes every twenty seconds',
  'test/http/raw-uploads.test.ts': 'connections that stay open for seconds after the answer',
  'test/http/tus-turns.test.ts': 'senders that are silent for a while',
}

export function waits(file: string): boolean {
  return file in WAITING
}
