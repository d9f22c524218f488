import { Button } from '@mantine/core'
import { renderToString } from 'react-dom/server'
import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { fill } from '../../../web/shared/words.ts'
import { noAnswers } from '../../../web/start/answers.ts'
import { START_APP, type StartPageData } from '../../../web/start/data.ts'
import { noReceipts, noTransfer, noUploads, StartApp } from '../../../web/start/start-app.tsx'
import { cardUrl } from '../../domain/card.ts'
import type { StartPageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { CopyLinkButton } from './copy-button.tsx'
import { Layout, LinkPreview } from './layout.tsx'
import { markdownHtml } from './markdown-html.ts'

export function StartPage({ view, context }: { view: StartPageView; context: PageContext }) {
  const { words, locale } = context
  const texts = context.texts.start
  const { guestUploads, isSignedIn, maxFileSize, inactiveDays } = view
  const data: StartPageData = {
    locale,
    texts: texts.app,
    guestUploads,
    isSignedIn,
    maxFileSize,
    link: null,
  }
  return (
    <Layout
      context={context}
      head={
        <LinkPreview
          siteName={context.branding.name}
          description={texts.description}
          image={cardUrl(view.publicUrl, null)}
          title={context.branding.name}
          url={`${view.publicUrl}/`}
        />
      }
      scripted={{ page: 'start', data }}
      title={texts.title}
    >
      <main className="start">
        {guestUploads ? <UploadApp data={data} /> : <SignInNeeded context={context} />}
        {context.branding.startText === null ? null : (
          <div
            className="start-text"
            dangerouslySetInnerHTML={{ __html: markdownHtml(context.branding.startText) }}
          />
        )}
        <div className="start-foot small quiet">
          <p>
            {fill(texts.limit, { size: words.size(maxFileSize) })}
            {inactiveDays === null
              ? null
              : ` ${fill(texts.expiry, { days: words.count(inactiveDays, context.texts.common.days) })}`}
          </p>
          <details>
            <summary>{guestUploads ? texts.terminal : texts.terminalWithKey}</summary>
            <pre>
              <code>{command(view)}</code>
            </pre>
            <CopyLinkButton context={context} label={texts.copyCommand} url={command(view)} />
          </details>
          <p>
            <a className="up" href="/docs">
              {context.texts.docs.link}
            </a>
          </p>
        </div>
      </main>
    </Layout>
  )
}

/** As the script's hydration expects it. */
export function UploadApp({ data }: { data: StartPageData }) {
  const html = renderToString(
    <StartApp
      answers={noAnswers}
      data={data}
      engine={noUploads}
      receipts={noReceipts}
      transfer={noTransfer()}
    />,
  )
  return <div dangerouslySetInnerHTML={{ __html: html }} id={START_APP} />
}

function SignInNeeded({ context }: { context: PageContext }) {
  const { start, account } = context.texts
  return (
    <div className="closed ground">
      <Drawing of="lock" size={40} />
      <h1>{start.signInNeeded}</h1>
      <p className="quiet">{start.signInNeededWhy}</p>
      <Button component="a" href="/sign-in?next=%2F" rel="nofollow">
        {account.forms.signIn.title}
      </Button>
    </div>
  )
}

function command(view: StartPageView): string {
  const key = view.guestUploads ? '' : "-H 'Authorization: Bearer hf_…' "
  return `curl ${key}-T film.mkv ${view.publicUrl}/`
}
