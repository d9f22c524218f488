/** The way to the server, as all uploads see it: when it is out, all wait together and one pause is enough. */
export interface Line {
  /** Resolves when something may be asked again; at once where nothing is wrong. */
  open(signal: AbortSignal): Promise<void>
  /** Something failed. `seconds`: how long the server asked to wait, null where it did not. Until when all wait. */
  failed(seconds: number | null): number
  /** Something went through. */
  works(): void
  /** Whoever waits because nobody answered tries at once: the network is said to be back. */
  nudge(): void
  /** As `nudge`, because a person wants it: also where the server has asked for more patience. */
  tryNow(): void
}

const FIRST_PAUSE = 500
const LONGEST_PAUSE = 30_000

export function createLine(now: () => number, chance: () => number): Line {
  let failures = 0
  let until = 0
  let isAsked = false
  const waiting = new Set<() => void>()

  function goOn(): void {
    failures = 0
    until = 0
    for (const go of [...waiting]) go()
  }

  return {
    async open(signal) {
      for (let left = until - now(); left > 0 && !signal.aborted; left = until - now()) {
        await new Promise<void>((resolve) => {
          const go = () => {
            clearTimeout(timer)
            signal.removeEventListener('abort', go)
            waiting.delete(go)
            resolve()
          }
          const timer = setTimeout(go, left)
          signal.addEventListener('abort', go)
          waiting.add(go)
        })
      }
    },

    failed(seconds) {
      if (seconds !== null) {
        // Not all at the same moment.
        until = Math.max(until, now() + (seconds + chance()) * 1000)
        isAsked = true
      } else if (until <= now()) {
        const most = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** failures)
        until = now() + most * (0.5 + chance() / 2)
        failures += 1
        isAsked = false
      }
      return until
    },

    works() {
      failures = 0
    },

    nudge() {
      if (!isAsked) goOn()
    },

    tryNow: goOn,
  }
}
