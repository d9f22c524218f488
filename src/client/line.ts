import type { RemoteServer } from './http.ts'
import { isLongLine, QUESTIONS } from './policy/parts-policy.ts'
import { tusExtensions } from './tus.ts'

/** Whether a round trip to the server is long, and the server can concatenate what comes over several connections. */
export async function wantsParts(server: RemoteServer): Promise<boolean> {
  try {
    for (let asked = 0; asked < QUESTIONS; asked += 1) {
      const began = performance.now()
      const extensions = await tusExtensions(server)
      if (!extensions.includes('concatenation') || !isLongLine(performance.now() - began)) return false
    }
    return true
  } catch {
    // The upload itself asks again, and says what is wrong.
    return false
  }
}
