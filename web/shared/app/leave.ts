/** Never resolves: the page stays busy until the next one has come. */
export function leaveFor(path: string): Promise<never> {
  location.assign(path)
  return new Promise(() => {})
}
