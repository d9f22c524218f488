import type { ReactElement } from 'react'
import type { PageContext } from './context.ts'
import { Layout, NoIndex } from './layout.tsx'

interface SectionsPageProps<Section extends string> {
  readonly context: PageContext
  readonly texts: {
    readonly title: string
    readonly pages: string
    readonly sections: Readonly<Record<Section, string>>
  }
  readonly sections: readonly Section[]
  readonly current: Section
  readonly pathOf: (section: Section) => string
  readonly scripted: { readonly page: 'settings' | 'admin'; readonly data: object }
  readonly app: string
  readonly className?: string
}

export function SectionsPage<Section extends string>(props: SectionsPageProps<Section>): ReactElement {
  const { context, texts, sections, current, pathOf, scripted, app, className } = props
  const { scriptNeeded, scriptNeededWhy } = context.texts.files
  return (
    <Layout
      context={context}
      head={<NoIndex />}
      scripted={scripted}
      title={`${texts.sections[current]} · ${texts.title}`}
    >
      <main className={className === undefined ? 'sections' : `sections ${className}`}>
        <h1>{texts.title}</h1>
        <nav aria-label={texts.pages} className="page-nav">
          {sections.map((section) => (
            <a aria-current={section === current ? 'page' : undefined} href={pathOf(section)} key={section}>
              {texts.sections[section]}
            </a>
          ))}
        </nav>
        <div className="sections-app" id={app}>
          <noscript>
            <h2>{scriptNeeded}</h2>
            <p>{scriptNeededWhy}</p>
          </noscript>
        </div>
      </main>
    </Layout>
  )
}
