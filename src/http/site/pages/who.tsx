import type { PageContext } from './context.ts'

/** In the head of every page: who is signed in, or the way to sign in. */
export function Who({ context }: { context: PageContext }) {
  const { account, admin, files, settings } = context.texts
  if (context.username === null) {
    return (
      <a className="who" href="/sign-in" rel="nofollow">
        {account.forms.signIn.title}
      </a>
    )
  }
  return (
    <details className="who-menu">
      <summary className="who">{context.username}</summary>
      <form action="/sign-out" method="post">
        <a className="who" href="/files">
          {files.app.top}
        </a>
        <a className="who" href="/settings">
          {settings.title}
        </a>
        {context.isAdmin ? (
          <a className="who" href="/admin">
            {admin.title}
          </a>
        ) : null}
        <button className="who" type="submit">
          {account.signOut}
        </button>
      </form>
    </details>
  )
}
