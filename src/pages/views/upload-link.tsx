import { fill } from '../../../web/shared/words.ts'
import type { AskedField, StartPageData } from '../../../web/start/data.ts'
import { ASKED_FIELDS } from '../../domain/upload-terms.ts'
import type { UploadLinkView } from '../views.ts'
import type { PageContext } from './context.ts'
import { Layout, NoIndex } from './layout.tsx'
import { LinkHead } from './link-head.tsx'
import { UploadApp } from './start.tsx'

interface UploadLinkProps {
  readonly view: UploadLinkView
  readonly context: PageContext
}

export function UploadLinkPage({ view, context }: UploadLinkProps) {
  const { texts, locale } = context
  const words = texts.uploadLink
  const title = view.notice.name ?? fill(words.title, { owner: view.owner })
  const { app } = texts.start
  const data: StartPageData = {
    locale,
    texts: {
      ...app,
      ...words.app,
      states: { ...app.states, ...words.app.states },
      earlier: { ...app.earlier, ...words.app.earlier },
    },
    guestUploads: true,
    isSignedIn: false,
    maxFileSize: view.maxFileSize,
    link: {
      slug: view.slug,
      fields: fieldsOf(view, context),
      accept: view.types === null ? null : view.types.join(','),
      isFull: view.isFull,
      filesLeft: view.filesLeft,
    },
  }
  return (
    <Layout context={context} head={<NoIndex />} scripted={{ page: 'start', data }} title={title}>
      <main className="start asking">
        <h1>
          <bdi>{title}</bdi>
        </h1>
        <p className="asking-facts quiet">{factsOf(view, context).join(' ')}</p>
        <LinkHead context={context} isTitled notice={{ ...view.notice, name: null }} />
        {view.isFull ? <p role="status">{words.full}</p> : null}
        <UploadApp data={data} />
      </main>
    </Layout>
  )
}

function fieldsOf({ fields }: UploadLinkView, { texts }: PageContext): AskedField[] {
  const { labels, optional } = texts.uploadLink
  return ASKED_FIELDS.flatMap((name) => {
    const asked = fields[name]
    if (asked === undefined) return []
    const isRequired = asked === 'required'
    const label = isRequired ? labels[name] : fill(optional, { label: labels[name] })
    return [{ name, label, isRequired, type: name === 'address' ? 'email' : 'text' } as const]
  })
}

function factsOf(view: UploadLinkView, { texts, words }: PageContext): string[] {
  const { owner, maxFileSize, types, notice, isFull, filesLeft } = view
  const { uploadLink, start } = texts
  const called: Readonly<Record<string, string>> = uploadLink.mediaTypes
  const kinds = types?.map((type) => called[type] ?? type).join(', ')
  const who = notice.name === null ? [] : [fill(uploadLink.asks, { owner })]
  if (isFull) return who
  return [
    ...who,
    uploadLink.unseen,
    ...(filesLeft === null ? [] : [words.count(filesLeft, uploadLink.most)]),
    fill(start.limit, { size: words.size(maxFileSize) }),
    ...(kinds === undefined ? [] : [fill(uploadLink.kinds, { kinds })]),
  ]
}
