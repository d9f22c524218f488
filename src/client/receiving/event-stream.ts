import { chunksUnlessAborted } from '../../domain/abort.ts'
import { SECOND } from '../../domain/clock.ts'
import { asConnectionErrors, type RemoteServer, sendRequest } from '../http.ts'
import { idleTimeout } from '../idle-timeout.ts'

/** The server sends a comment every 15 seconds. */
const QUIET = 60 * SECOND

/** Until the signal is aborted or the stream ends. Throws AnswerError, or ConnectionError when it breaks. */
export async function watchEvents(
  server: RemoteServer,
  signal: AbortSignal,
  told: (event: string) => void,
): Promise<void> {
  const idle = idleTimeout(QUIET)
  const either = AbortSignal.any([signal, idle.signal])
  try {
    const response = await sendRequest(server, {
      method: 'GET',
      path: '/api/v1/events',
      signal: either,
      isAlone: true,
    })
    const { body } = response
    if (body === null) return
    const decoder = new TextDecoder()
    let line = ''
    await asConnectionErrors(server.url, async () => {
      for await (const bytes of chunksUnlessAborted(either, body)) {
        idle.restart()
        const lines = (line + decoder.decode(bytes, { stream: true })).split('\n')
        line = lines.pop() ?? ''
        for (const each of lines) {
          const [, event] = /^event: ?(\S+)/.exec(each) ?? []
          if (event !== undefined) told(event)
        }
      }
    })
  } finally {
    idle.stop()
  }
}
