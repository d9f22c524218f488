/** An administrator with a session, as on the pages at /admin. */
import { z } from 'zod'
import { type Reply, signedIn, type Visitor } from '../clients/site-visitor.ts'
import type { TestHoldfast } from '../servers/holdfast.ts'

export interface TestAdministrator extends Visitor {
  /** GET; expects success and returns the `data` of the answer. */
  read<T>(path: string, schema: z.ZodType<T>): Promise<T>
  /** Expects success. */
  act(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Reply>
  /** Audit log entries of this action, newest first. */
  deeds(act: string): Promise<Deed[]>
}

const deed = z.object({
  account: z.object({ id: z.number(), username: z.string() }).nullable(),
  address: z.string().nullable(),
  act: z.string(),
  object: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
})

export type Deed = z.infer<typeof deed>

const ADMIN = '/api/v1/admin'

export async function administrator(host: TestHoldfast, username = 'root'): Promise<TestAdministrator> {
  await host.makeAdmin(username)
  const browser = await signedIn(host, username)
  const checked = (reply: Reply, what: string): Reply => {
    if (reply.status >= 300) throw new Error(`${what} answered ${reply.status}: ${reply.text}`)
    return reply
  }
  const read: TestAdministrator['read'] = async (path, schema) =>
    checked(await browser.get(ADMIN + path), path).data(schema)
  return {
    ...browser,
    read,
    act: async (method, path, body) => checked(await browser.send(method, ADMIN + path, body), path),
    deeds: (act) => read(`/audit?act=${act}`, z.array(deed)),
  }
}
