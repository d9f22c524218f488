/** What this browser keeps for the site; null where it keeps nothing. */
export function storage(): Storage | null {
  try {
    return localStorage
  } catch {
    return null
  }
}
