/** A browser with a persistent profile that can be killed and restarted. */
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { z } from 'zod'
import { temporaryFolder } from '../processes/child.ts'
import { launchProfile, pageIn, type Visit } from './browser.ts'

export interface KillableBrowser extends AsyncDisposable {
  /** Opens a page, starting the browser if necessary. */
  open(): Promise<Visit>
  /** Sends SIGKILL; resolves when all of its processes have ended. */
  kill(): Promise<void>
}

/** `home`: the server's address. */
export function killableBrowser(home: string): KillableBrowser {
  const folder = temporaryFolder()
  let running: BrowserContext | null = null
  return {
    async open() {
      running ??= await launchProfile(join(folder.path, 'profile'), home)
      return pageIn(running, home)
    },
    async kill() {
      if (running === null) throw new Error('the browser is not running')
      const context = running
      running = null
      const gone = new Promise((resolve) => context.once('close', resolve))
      process.kill(await processOf(context), 'SIGKILL')
      await gone
    },
    async [Symbol.asyncDispose]() {
      await running?.close()
      folder[Symbol.dispose]()
    },
  }
}

const processes = z.object({ processInfo: z.array(z.object({ type: z.string(), id: z.number() })) })

/** Id of the browser's main process. */
async function processOf(context: BrowserContext): Promise<number> {
  const devtools = await context.browser()?.newBrowserCDPSession()
  const { processInfo } = processes.parse(await devtools?.send('SystemInfo.getProcessInfo'))
  const main = processInfo.find(({ type }) => type === 'browser')
  if (main === undefined) throw new Error('the browser tells no process')
  return main.id
}
