/** Goes to another page. Never resolves: as long as that page is on its way, this one is busy. */
export function leaveFor(path: string): Promise<never> {
  location.assign(path)
  return new Promise(() => {})
}
