/**
 * `npm run dev`: the server on a data folder of its own, restarted when a source file changes. A server that starts
 * builds the site when its sources have changed.
 *
 *   bun dev.ts [options of bun, such as --inspect]
 */
import { watch } from 'node:fs'
import { join } from 'node:path'
import type { Subprocess } from 'bun'

const WATCHED = ['src', 'web', 'docs/guide']
/** What the build writes, hidden files, and the backups of editors. */
const IGNORED = /^dist(\/|$)|(^|\/)\.|~$/
/** Milliseconds in which further changes belong to the same restart: editors and git write many files. */
const TOGETHER = 100

const environment = {
  ...process.env,
  HOLDFAST_DATA_DIR: join(import.meta.dir, '.dev'),
  // Uploads under way do not hold up a restart.
  HOLDFAST_SHUTDOWN_GRACE: '0',
}

let server = start()
let restarting = false
let timer: ReturnType<typeof setTimeout> | undefined

for (const folder of WATCHED) {
  watch(join(import.meta.dir, folder), { recursive: true }, (_event, name) => {
    if (name !== null && IGNORED.test(name)) return
    clearTimeout(timer)
    timer = setTimeout(() => void restart(`${folder}/${name}`), TOGETHER)
  })
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, async () => {
    server.kill(signal)
    process.exit(await server.exited)
  })
}

function start(): Subprocess {
  return Bun.spawn([process.execPath, ...process.argv.slice(2), '--no-env-file', 'src/main.ts', 'serve'], {
    cwd: import.meta.dir,
    env: environment,
    stdio: ['inherit', 'inherit', 'inherit'],
  })
}

async function restart(changed: string): Promise<void> {
  if (restarting) return
  restarting = true
  console.error(`\n--- ${changed} changed`)
  server.kill('SIGTERM')
  await server.exited
  restarting = false
  server = start()
}
