import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { ACCOUNT_BUTTON, ACCOUNT_MENU } from '../../../web/shared/menus/account-menu.ts'
import type { PageContext } from './context.ts'

const SIGN_OUT = 'sign-out'

/** Empty while the session is unknown. */
export function Who({ context }: { context: PageContext }) {
  const { account, admin, files, settings } = context.texts
  const { username } = context
  if (context.isUnsure) return null
  if (username === null) {
    return (
      <a className="who" href="/sign-in" rel="nofollow">
        {account.forms.signIn.title}
      </a>
    )
  }
  return (
    <div className="who-menu">
      <button className="who" id={ACCOUNT_BUTTON} popoverTarget={ACCOUNT_MENU} type="button">
        <span className="who-name">{username}</span>
        <Drawing of="chevron" size={16} />
      </button>
      <div className="menu" id={ACCOUNT_MENU} popover="auto">
        <a className="menu-item" href="/files">
          {files.app.top}
        </a>
        <a className="menu-item" href="/settings">
          {settings.title}
        </a>
        {context.isAdmin ? (
          <a className="menu-item" href="/admin">
            {admin.title}
          </a>
        ) : null}
        <button className="menu-item menu-item-apart" form={SIGN_OUT} type="submit">
          {account.signOut}
        </button>
      </div>
      <form action="/sign-out" hidden id={SIGN_OUT} method="post" />
    </div>
  )
}
