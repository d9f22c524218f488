import type { RemoteServer } from './http.ts'
import { CONNECTIONS, isHighLatency } from './policy/parts-policy.ts'
import { ping } from './tus.ts'

/** The line to the server, as all files of a command see it. */
export class RemoteLine {
  readonly #server: RemoteServer
  #answer: Promise<boolean> | null = null

  constructor(server: RemoteServer) {
    this.#server = server
  }

  /** Whether a round trip is long. Asked once; may be asked early. */
  isLong(): Promise<boolean> {
    this.#answer ??= areAllLate(this.#server)
    return this.#answer
  }
}

/** Requests that are sent at once leave a connection for each part that is sent first. */
async function areAllLate(server: RemoteServer): Promise<boolean> {
  const began = performance.now()
  const requests = Array.from({ length: CONNECTIONS }, () => ping(server))
  try {
    await Promise.any(requests)
    return isHighLatency(performance.now() - began)
  } catch {
    // The upload itself asks again, and says what is wrong.
    return false
  }
}
