import { Button } from '@mantine/core'
import type { Words } from '../../../web/shared/words.ts'
import { fill } from '../../../web/shared/words.ts'
import type { CommonTexts } from '../texts/texts.ts'
import type { ErrorPageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { Layout, NoIndex } from './layout.tsx'

export function ErrorPage({ view, context }: { view: ErrorPageView; context: PageContext }) {
  const { common, errors } = context.texts
  const { code, reason } = view
  const isFull = reason === 'full' || reason === 'guests'
  const { title, message } = isFull ? errors.noSpace[reason] : errors.codes[code]
  const way = nextAction(view, context)
  return (
    <Layout context={context} head={<NoIndex />} title={title}>
      <main className="message ground">
        <h1>{title}</h1>
        <p className="quiet">
          {message}
          {view.retryAfter === null
            ? null
            : ` ${fill(errors.wait, { wait: waitingTime(view.retryAfter, context.words, common) })}`}
        </p>
        <Button component="a" href={way.address} rel="nofollow">
          {way.text}
        </Button>
        <p className="status small">{fill(errors.status, { status: String(view.status) })}</p>
      </main>
    </Layout>
  )
}

function nextAction(
  { code, path }: ErrorPageView,
  { texts }: PageContext,
): { text: string; address: string } {
  switch (code) {
    case 'RANGE_NOT_SATISFIABLE':
      return { text: texts.errors.wholeFile, address: path }
    case 'FILE_ARRIVING':
    case 'RATE_LIMITED':
    case 'INTERNAL_ERROR':
    case 'STORAGE_UNAVAILABLE':
    case 'DATABASE_UNAVAILABLE':
    case 'SERVER_BUSY':
    case 'SHUTTING_DOWN':
      return { text: texts.common.tryAgain, address: path }
    case 'GUEST_UPLOADS_DISABLED':
      return { text: texts.account.forms.signIn.title, address: '/sign-in?next=%2F' }
    default:
      return { text: texts.common.toStart, address: '/' }
  }
}

/** Rounds up, so that a retry is never too early. */
export function waitingTime(seconds: number, words: Words, common: CommonTexts): string {
  return seconds > 90
    ? words.count(Math.ceil(seconds / 60), common.minutes)
    : words.count(Math.ceil(seconds), common.seconds)
}
