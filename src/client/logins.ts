import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod/mini'
import { ClientError } from './failure.ts'
import { syncFolder } from './local-file.ts'

const login = z.object({ api_key: z.string(), username: z.string(), account_id: z.number() })
export type Login = z.infer<typeof login>

const kept = z.object({
  server: z.nullable(z.string()),
  servers: z.record(z.string(), login),
})

/** Servers and keys, readable by the user alone. */
export interface Logins {
  current(): Promise<string | null>
  at(server: string): Promise<Login | null>
  keep(server: string, login: Login): Promise<void>
  forget(server: string): Promise<boolean>
}

/** `folder`: the user's settings, such as `~/.config`. */
export function createLogins(folder: string): Logins {
  const path = join(folder, 'holdfast', 'logins.json')

  async function read(): Promise<z.infer<typeof kept>> {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{"server":null,"servers":{}}'
      throw error
    })
    try {
      return kept.parse(JSON.parse(text))
    } catch {
      throw new ClientError(`${path} is damaged; remove it and log in again.`)
    }
  }

  async function write(value: z.infer<typeof kept>): Promise<void> {
    const folder = dirname(path)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // It may exist already, with wider permissions.
    await chmod(folder, 0o700)
    await writeFile(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true })
    await chmod(`${path}.new`, 0o600)
    await rename(`${path}.new`, path)
    await syncFolder(folder)
  }

  return {
    current: async () => (await read()).server,
    at: async (server) => (await read()).servers[server] ?? null,
    async keep(server, login) {
      const { servers } = await read()
      await write({ server, servers: { ...servers, [server]: login } })
    },

    async forget(server) {
      const { server: current, servers } = await read()
      if (servers[server] === undefined) return false
      const others = Object.fromEntries(Object.entries(servers).filter(([each]) => each !== server))
      await write({ server: current === server ? null : current, servers: others })
      return true
    },
  }
}
