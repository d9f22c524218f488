import type { PasswordPageView } from '../views.ts'
import { Drawing } from './drawing.tsx'
import { Layout, NoIndex } from './layout.tsx'

/** Shows what is needed to unlock and nothing of what is behind it. */
export function PasswordPage({ view }: { view: PasswordPageView }) {
  const wrong = view.error !== null
  return (
    <Layout head={<NoIndex />} title="Password needed">
      <main className="message">
        <Drawing of="lock" size={40} />
        <h1>Password needed</h1>
        <p className="quiet">Whoever gave you this link can tell you the password.</p>
        <form action={view.action} id="password-form" method="post">
          <input id="nonce" name="nonce" type="hidden" value={view.nonce} />
          <input name="next" type="hidden" value={view.next} />
          <label htmlFor="password">Password</label>
          <input
            aria-describedby={wrong ? 'password-error' : undefined}
            aria-invalid={wrong ? true : undefined}
            autoComplete="current-password"
            id="password"
            name="password"
            required
            type="password"
          />
          {wrong ? (
            <p className="failure" id="password-error" role="alert">
              {view.error}
            </p>
          ) : null}
          <button className="button" type="submit">
            Unlock
          </button>
        </form>
      </main>
    </Layout>
  )
}
