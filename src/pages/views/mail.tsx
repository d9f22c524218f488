import { Button, TextInput } from '@mantine/core'
import { fill } from '../../../web/shared/words.ts'
import type { MailPageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { waitingTime } from './error.tsx'
import { Layout, NoIndex } from './layout.tsx'

export function MailPage({ view, context }: { view: MailPageView; context: PageContext }) {
  const { texts, words } = context
  const { kind, action, username, address, files, days, retryAfter } = view
  const { title, why, submit } = texts.mail.pages[kind]
  const values = {
    username,
    address,
    files: words.count(files, texts.mail.files),
    days: words.number(days),
  }
  return (
    <Layout context={context} head={<NoIndex />} isMoving title={title}>
      <main className="message account">
        <h1>{title}</h1>
        <p className="quiet">{fill(why, values)}</p>
        {retryAfter === null ? null : (
          <p className="failure" role="alert">
            {fill(texts.account.tooMany, { wait: waitingTime(retryAfter, words, texts.common) })}
          </p>
        )}
        {action === null || submit === null ? null : (
          <form action={action} method="post">
            {kind === 'forgotten' ? (
              <TextInput
                autoCapitalize="none"
                autoComplete="username"
                id="name"
                label={texts.mail.nameOrAddress}
                maxLength={254}
                name="name"
                required
                withAsterisk={false}
              />
            ) : null}
            <Button className="button" type="submit">
              {submit}
            </Button>
          </form>
        )}
        {kind === 'forgottenSent' || kind === 'noMail' ? (
          <a className="button button-quiet" href="/sign-in">
            {texts.mail.toSignIn}
          </a>
        ) : null}
      </main>
    </Layout>
  )
}
