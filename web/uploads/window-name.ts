/**
 * Two windows continuing one upload would collide. A reloaded window, or one opened after another was closed,
 * finds that one's uploads.
 */

const MOST = 16

export async function windowName(): Promise<string> {
  // Locks need HTTPS or localhost.
  if (navigator.locks === undefined) return `page-${nameOfTab()}`
  for (let number = 0; number < MOST; number++) {
    const name = `page-${number}`
    if (await claim(`holdfast-${name}`)) return name
  }
  return `page-${crypto.randomUUID()}`
}

/** Holds the lock until the window closes; false when another window holds it. */
function claim(lock: string): Promise<boolean> {
  return new Promise((resolve) => {
    navigator.locks
      .request(lock, { ifAvailable: true }, (held) => {
        resolve(held !== null)
        return held === null ? undefined : new Promise(() => {})
      })
      .catch(() => resolve(false))
  })
}

/** Survives a reload, and the browser's restoring after a crash. */
function nameOfTab(): string {
  try {
    const known = sessionStorage.getItem('holdfast-window')
    const name = known ?? Math.random().toString(36).slice(2)
    sessionStorage.setItem('holdfast-window', name)
    return name
  } catch {
    return Math.random().toString(36).slice(2)
  }
}
