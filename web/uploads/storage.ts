/** Null where the browser stores nothing. */
export function storage(): Storage | null {
  try {
    return localStorage
  } catch {
    return null
  }
}
