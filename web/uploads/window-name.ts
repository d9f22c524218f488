/**
 * Which of the windows on this site this one is. Each has uploads of its own: two that went on with the same one would
 * be in each other's way. A window that is loaded again, or comes after one that was closed, finds the uploads of that.
 */

const MOST = 16

export async function windowName(): Promise<string> {
  // Only pages that came by HTTPS, or from this machine, have locks.
  if (navigator.locks === undefined) return `page-${nameOfTab()}`
  for (let number = 0; number < MOST; number++) {
    const name = `page-${number}`
    if (await claim(`holdfast-${name}`)) return name
  }
  return `page-${crypto.randomUUID()}`
}

/** Takes the lock until the window is gone; false when another holds it. */
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

/** Survives a reload, and the browser's own restoring after a crash. */
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
