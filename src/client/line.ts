import type { RemoteServer } from './http.ts'
import { CONNECTIONS, isHighLatency } from './policy/parts-policy.ts'
import { ping } from './tus.ts'

export class RemoteLine {
  readonly #server: RemoteServer
  #answer: Promise<boolean> | null = null

  constructor(server: RemoteServer) {
    this.#server = server
  }

  /** Whether a round trip takes long. Measured once. */
  isLong(): Promise<boolean> {
    this.#answer ??= areAllLate(this.#server)
    return this.#answer
  }
}

/** Concurrent requests leave a connection for each part that is sent first. */
async function areAllLate(server: RemoteServer): Promise<boolean> {
  const began = performance.now()
  const requests = Array.from({ length: CONNECTIONS }, () => ping(server))
  try {
    await Promise.any(requests)
    return isHighLatency(performance.now() - began)
  } catch {
    // The upload itself retries and reports the failure.
    return false
  }
}
