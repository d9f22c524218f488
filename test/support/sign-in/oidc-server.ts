/** A real OpenID Connect server without passwords. */
import type { AddressInfo } from 'node:net'
import Provider, { type Configuration } from 'oidc-provider'

export interface OidcServer extends AsyncDisposable {
  readonly issuer: string
  /** Follows the sign-in as that person's browser would, consents, and returns the callback address. */
  signIn(address: string, subject: string): Promise<string>
}

export const CLIENT = { clientId: 'files', clientSecret: 'a secret between servers' }

/**
 * `redirect`: the callback address, determined at the first sign-in. `nameOf`: the preferred name of a
 * subject. Its site differs from that of servers at `localhost`.
 */
export async function startOidcServer(
  redirect: () => string,
  nameOf: (subject: string) => string,
): Promise<OidcServer> {
  const configuration = (): Configuration => ({
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [redirect()],
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ['sub'], profile: ['preferred_username'] },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: async () => ({ sub, preferred_username: nameOf(sub) }),
    }),
    features: { devInteractions: { enabled: true } },
    cookies: { keys: ['for tests'] },
  })
  let handle: ReturnType<Provider['callback']> | null = null
  const { createServer } = await import('node:http')
  const server = createServer((request, response) => {
    handle ??= new Provider(issuer, configuration()).callback()
    void handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const issuer = `http://127.0.0.1:${port}`

  return {
    issuer,

    async signIn(address, subject) {
      const jar = new Map<string, string>()
      let location = address
      let form: Record<string, string> | null = null
      for (let steps = 0; steps < 12; steps++) {
        const response: Response = await fetch(location, {
          redirect: 'manual',
          headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
          ...(form === null ? {} : { method: 'POST', body: new URLSearchParams(form) }),
        })
        form = null
        for (const set of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
          jar.set(name, value)
        }
        const next = response.headers.get('location')
        if (next === null) {
          const page = await response.text()
          const [, prompt = ''] = /name="prompt" value="(\w+)"/.exec(page) ?? []
          const [, action = ''] = /action="([^"]+)"/.exec(page) ?? []
          if (action === '') throw new Error(`the server does not go on: ${page.slice(-500)}`)
          form = prompt === 'login' ? { prompt, login: subject, password: 'any' } : { prompt }
          location = new URL(action, issuer).href
          continue
        }
        location = new URL(next, location).href
        if (location.startsWith(redirect())) return location
      }
      throw new Error('the server sends around in circles')
    },

    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
