import { Button } from '@mantine/core'
import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { PasswordField } from '../../../web/shared/password-field.tsx'
import { fill } from '../../../web/shared/words.ts'
import { cardUrl } from '../../domain/card.ts'
import type { PasswordPageView } from '../views.ts'
import { titleOf } from './account-form.tsx'
import type { PageContext } from './context.ts'
import { waitingTime } from './error.tsx'
import { Layout, NoIndex } from './layout.tsx'

/** Reveals nothing about the content. */
export function PasswordPage({ view, context }: { view: PasswordPageView; context: PageContext }) {
  const texts = context.texts.password
  const told = problem(view.error, context)
  return (
    <Layout
      context={context}
      head={
        <>
          <NoIndex />
          {context.publicUrl === null ? null : (
            <meta property="og:image" content={cardUrl(context.publicUrl, null)} />
          )}
        </>
      }
      isMoving
      title={titleOf(texts.title, told, context)}
    >
      <main className="message">
        <Drawing of="lock" size={40} />
        <h1>{texts.title}</h1>
        <p className="quiet">{texts.why}</p>
        <form
          action={view.action}
          // English marker that programs look for, independent of the page's language.
          data-error={view.error?.code === 'WRONG_PASSWORD' ? 'Wrong password' : undefined}
          id="password-form"
          method="post"
        >
          <input id="nonce" name="nonce" type="hidden" value={view.nonce} />
          <input name="next" type="hidden" value={view.next} />
          <PasswordField
            autoComplete="current-password"
            autoFocus
            error={told}
            errorProps={{ role: 'alert' }}
            id="password"
            label={texts.label}
            name="password"
            required
            show={context.texts.common.showPassword}
          />
          <Button type="submit">{texts.unlock}</Button>
        </form>
      </main>
    </Layout>
  )
}

function problem(error: PasswordPageView['error'], { texts, words }: PageContext): string | null {
  switch (error?.code) {
    case undefined:
      return null
    case 'WRONG_PASSWORD':
      return texts.password.wrong
    case 'RATE_LIMITED':
      return fill(texts.password.tooMany, {
        wait: waitingTime(error?.retryAfter ?? 0, words, texts.common),
      })
    default:
      return texts.errors.codes[error?.code ?? 'INTERNAL_ERROR'].message
  }
}
