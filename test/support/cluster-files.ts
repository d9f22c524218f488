/** Which test files run again on PostgreSQL and S3 with three nodes behind nginx, and which do not, and why. */

/** The whole HTTP suite, except these. */
const NOT_ON_THE_CLUSTER: Readonly<Record<string, string>> = {
  'test/http/client-address.test.ts': 'starts no server',
  'test/http/conditions.test.ts': 'starts no server',
  'test/http/disposition.test.ts': 'starts no server',
  'test/http/expiry-clock.test.ts':
    'is about how far a node believes its own clock, which the nodes of a test share',
  'test/http/long-work.test.ts': 'is about statements on the main thread; the other nodes answer in any case',
  'test/http/multipart.test.ts': 'starts no server',
  'test/http/multipart-fuzz.test.ts': 'starts no server',
  'test/http/pages.test.ts': 'starts no server',
  'test/http/part-headers.test.ts': 'starts no server',
  'test/http/ranges.test.ts': 'starts no server',
  'test/http/zip-stream.test.ts': 'starts no server',
}

/** Of the files given, those that run on the cluster. */
export function clusterFiles(files: readonly string[]): string[] {
  return files.filter((file) => file.startsWith('test/http/') && !(file in NOT_ON_THE_CLUSTER))
}

/** Whether any of the files speaks with PostgreSQL or S3. */
export function needsServers(files: readonly string[]): boolean {
  const own = ['test/contracts/', 'test/faults/', 'test/cli/', 'test/browser/']
  return clusterFiles(files).length > 0 || files.some((file) => own.some((folder) => file.startsWith(folder)))
}
