/** A person's own browser, which crashes: the next one has what is left in its profile. */
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { z } from 'zod'
import { launchProfile, pageIn, type Visit } from './browser.ts'
import { temporaryFolder } from './child.ts'

export interface KillableBrowser extends AsyncDisposable {
  /** A page of the browser, which is started if it is not running. */
  open(): Promise<Visit>
  /** SIGKILL to it; resolves when all of its processes are gone. */
  kill(): Promise<void>
}

/** `home` is where the server is. */
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

/** The id of the process that all others of the browser hang on. */
async function processOf(context: BrowserContext): Promise<number> {
  const devtools = await context.browser()?.newBrowserCDPSession()
  const { processInfo } = processes.parse(await devtools?.send('SystemInfo.getProcessInfo'))
  const main = processInfo.find(({ type }) => type === 'browser')
  if (main === undefined) throw new Error('the browser tells no process')
  return main.id
}
