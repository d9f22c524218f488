import { renderToStaticMarkup } from 'react-dom/server'
import api from '../../../docs/guide/api.md'
import rclone from '../../../docs/guide/rclone.md'
import sharex from '../../../docs/guide/sharex.md'
import tusClients from '../../../docs/guide/tus-clients.md'
import webhooks from '../../../docs/guide/webhooks.md'
import { GUIDES, type GuideName } from '../guides.ts'
import type { GuidePageView, ReferenceView } from '../views.ts'
import type { PageContext } from './context.ts'
import { Layout } from './layout.tsx'
import { Reference } from './reference.tsx'

const DOCUMENT = '/api/v1/openapi.json'

/** By language of the buttons: the reference is long and otherwise constant. */
const rendered = new WeakMap<ReferenceView, Map<string, string>>()

function referenceHtml(view: ReferenceView, { texts }: PageContext): string {
  const known = rendered.get(view) ?? new Map<string, string>()
  rendered.set(view, known)
  const { copied, copyFailed: failed } = texts.common
  const copy = { copy: texts.docs.copy, copied, failed }
  const html = known.get(copy.copy) ?? renderToStaticMarkup(<Reference copy={copy} view={view} />)
  known.set(copy.copy, html)
  return html
}

export function ReferencePage({ view, context }: { view: ReferenceView; context: PageContext }) {
  const { docs } = context.texts
  return (
    <Layout context={context} scripted={{ page: 'reference' }} title={docs.title}>
      <main className="reference">
        <h1>{docs.title}</h1>
        <DocsNav context={context} present={null} />
        <p className="quiet">
          {`${docs.why} `}
          <a href={DOCUMENT}>openapi.json</a>
        </p>
        <div dangerouslySetInnerHTML={{ __html: referenceHtml(view, context) }} />
      </main>
    </Layout>
  )
}

export function GuidePage({ view, context }: { view: GuidePageView; context: PageContext }) {
  const { name, publicUrl } = view
  return (
    <Layout context={context} title={guideTitle(name)}>
      <main className="guide">
        <DocsNav context={context} present={name} />
        <article lang="en">
          <h1>{guideTitle(name)}</h1>
          <div dangerouslySetInnerHTML={{ __html: guideHtml(name, publicUrl) }} />
        </article>
      </main>
    </Layout>
  )
}

function DocsNav({ context, present }: { context: PageContext; present: GuideName | null }) {
  const { docs } = context.texts
  const entries = [
    { address: '/docs', text: docs.reference, isHere: present === null },
    ...GUIDES.map((name) => ({
      address: `/docs/${name}`,
      text: docs.guides[name],
      isHere: present === name,
    })),
  ]
  return (
    <nav aria-label={docs.pages} className="page-nav">
      {entries.map(({ address, text, isHere }) => (
        <a aria-current={isHere ? 'page' : undefined} href={address} key={address}>
          {text}
        </a>
      ))}
    </nav>
  )
}

const PLACEHOLDER_URL = 'https://files.example.org'

interface Guide {
  readonly title: string
  readonly html: string
}

const guides: Readonly<Record<GuideName, Guide>> = {
  api,
  webhooks,
  sharex,
  rclone,
  'tus-clients': tusClients,
}

function guideTitle(name: GuideName): string {
  return guides[name].title
}

function guideHtml(name: GuideName, publicUrl: string): string {
  return guides[name].html.replaceAll(PLACEHOLDER_URL, publicUrl)
}
