import type { AuthEngine, EngineParts } from './auth-engine.ts'

/** What a browser brings along when somebody signs in. */
export interface Browser {
  /** Its Cookie header. */
  readonly cookies: string
  readonly userAgent: string | null
}

/** Made when it is first asked for: better-auth takes a third of a second to load, and 40 MB. */
export type Auth = () => Promise<AuthEngine>

export function createAuth(parts: () => EngineParts): Auth {
  let engine: Promise<AuthEngine> | null = null
  return () => {
    engine ??= import('./auth-engine.ts').then(({ createAuthEngine }) => createAuthEngine(parts()))
    engine.catch(() => {
      engine = null
    })
    return engine
  }
}

/** The longest name of a browser that is kept. */
const LONGEST_AGENT = 300

export function browserHeaders({ cookies, userAgent }: Browser): Headers {
  const headers = new Headers()
  if (cookies !== '') headers.set('cookie', cookies)
  if (userAgent !== null) headers.set('user-agent', userAgent.slice(0, LONGEST_AGENT))
  return headers
}

/** The same without the session that the browser is in: who signs in begins a new one. */
export function withoutSession(browser: Browser, cookie: string): Browser {
  const kept = browser.cookies.split(/; */).filter((pair) => !pair.startsWith(`${cookie}=`))
  return { ...browser, cookies: kept.join('; ') }
}
