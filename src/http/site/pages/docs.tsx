import { REFERENCE, type ReferenceData } from '../../../../web/reference/data.ts'
import { GUIDES, type GuideName } from '../guides.ts'
import type { GuidePageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { guideHtml, guideTitle } from './guide-texts.ts'
import { Layout } from './layout.tsx'

const DOCUMENT = '/api/v1/openapi.json'

/** The reference of the API, which a script of its own shows. */
export function ReferencePage({ context }: { context: PageContext }) {
  const { docs } = context.texts
  const data: ReferenceData = { document: DOCUMENT, failed: docs.failed }
  return (
    <Layout context={context} scripted={{ page: 'reference', data }} title={docs.title}>
      <main className="reference">
        <h1>{docs.title}</h1>
        <DocsNav context={context} present={null} />
        <p className="quiet">
          {`${docs.why} `}
          <a href={DOCUMENT}>openapi.json</a>
        </p>
        <noscript>
          <p>{docs.needsScript}</p>
        </noscript>
        {/* Swagger UI speaks English alone. */}
        <div aria-busy="true" id={REFERENCE} lang="en" />
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
