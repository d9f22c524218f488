/** Faults of Bun that show now and then, counted: never among the tests that fail a change. */

/** How long something that is over may go unnoticed before it counts as lost. */
const LOST_AFTER = 3000

/** How many of so many children say something that never arrives: `child.stdout` as a stream. */
export async function silentPipes(children: number): Promise<string> {
  let silent = 0
  const one = async () => {
    const child = Bun.spawn(['sh', '-c', 'echo said'], { stdout: 'pipe', stderr: 'ignore' })
    const said = new Response(child.stdout).text()
    const lost = child.exited.then(() => Bun.sleep(LOST_AFTER)).then(() => null)
    if ((await Promise.race([said, lost])) === null) silent++
  }
  for (let begun = 0; begun < children; begun += 10) await Promise.all(Array.from({ length: 10 }, one))
  return `${silent} of ${children} children were never heard; at 0 over many runs, pipes may replace files`
}

/** How many of so many requests that are aborted at any moment never settle. */
export async function unsettledFetches(requests: number): Promise<string> {
  await using server = Bun.serve({
    port: 0,
    async fetch() {
      await Bun.sleep(Math.random() * 20)
      return new Response(new Uint8Array(100_000))
    },
  })
  let unsettled = 0
  const one = async () => {
    const controller = new AbortController()
    const settled = fetch(server.url, { signal: controller.signal })
      .then((response) => response.bytes())
      .then(
        () => true,
        () => true,
      )
    await Bun.sleep(Math.random() * 25)
    controller.abort()
    if (!(await Promise.race([settled, Bun.sleep(LOST_AFTER).then(() => false)]))) unsettled++
  }
  for (let begun = 0; begun < requests; begun += 50) await Promise.all(Array.from({ length: 50 }, one))
  return `${unsettled} of ${requests} aborted requests never settled; at 0 over many runs, unlessAborted may go`
}
