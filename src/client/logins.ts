import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { ClientError } from './failure.ts'

const login = z.object({ api_key: z.string(), username: z.string(), account_id: z.number() })
export type Login = z.infer<typeof login>

const kept = z.object({
  /** Where one was logged in last. */
  server: z.string().nullable(),
  servers: z.record(z.string(), login),
})

/** The servers that somebody is logged in to, with their keys. The file is for its owner's eyes alone. */
export interface Logins {
  /** The server that is meant when none is named. */
  current(): Promise<string | null>
  at(server: string): Promise<Login | null>
  keep(server: string, login: Login): Promise<void>
}

/** `folder`: where programs keep the user's settings, such as `~/.config`. */
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

  return {
    current: async () => (await read()).server,
    at: async (server) => (await read()).servers[server] ?? null,
    async keep(server, login) {
      const { servers } = await read()
      const folder = dirname(path)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      // It may have been there before, and open to others.
      await chmod(folder, 0o700)
      const text = `${JSON.stringify({ server, servers: { ...servers, [server]: login } }, null, 2)}\n`
      await writeFile(`${path}.new`, text, { mode: 0o600, flush: true })
      await chmod(`${path}.new`, 0o600)
      await rename(`${path}.new`, path)
    },
  }
}
