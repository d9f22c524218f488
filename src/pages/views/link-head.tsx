import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { Filled } from '../../../web/shared/filled.tsx'
import { fill } from '../../../web/shared/words.ts'
import type { LinkNotice } from '../views.ts'
import type { PageContext } from './context.ts'
import { Moment, WeekdayMoment } from './times.tsx'

interface Props {
  readonly notice: LinkNotice
  readonly context: PageContext
}

/** Who sent what and until when, as we say it; then, set apart, what the sender says. */
export function LinkHead({ notice, isTitled, context }: Props & { readonly isTitled: boolean }) {
  const { words, texts } = context
  const { name, arrived, message, endsAt, left, opensOnce } = notice
  const isSaid = isTitled && notice.content !== null
  if (!isSaid && [name, arrived, message, endsAt, left].every((each) => each === null)) return null
  return (
    <div className="link-head">
      {opensOnce ? <Once context={context} left={left} /> : null}
      {name === null ? null : (
        <strong>
          <bdi>{name}</bdi>
        </strong>
      )}
      {isSaid ? (
        <p className="link-lead">
          <LinkSentence context={context} notice={notice} />
        </p>
      ) : null}
      {arrived === null ? null : <p className="small">{arrivedText(arrived, context)}</p>}
      {endsAt === null ? null : <Until context={context} endsAt={endsAt} notice={notice} />}
      {left === null ? null : (
        <p className="small quiet">
          {opensOnce || left === 'yours' ? null : `${words.count(left, texts.madeLink.left)} `}
          {left === 'yours' && !opensOnce ? `${texts.madeLink.yours} ` : null}
          {texts.madeLink.noPreview}
        </p>
      )}
      {message === null ? null : <Message context={context} message={message} />}
    </div>
  )
}

/** The second text is shown by the script once the download was started. */
function Once({ left, context: { texts } }: Pick<Props, 'context'> & Pick<LinkNotice, 'left'>) {
  const { once, onceYours, onceOver } = texts.madeLink
  return (
    <div className="link-once" role="status">
      <Drawing of="alert" />
      <p data-before-download>{left === 'yours' ? onceYours : once}</p>
      <p data-after-download hidden>
        {onceOver}
      </p>
    </div>
  )
}

/** `Ann sent you 24 photos (310 MB).` */
export function LinkSentence({ notice, context }: Props) {
  const { sender, arrived, content } = notice
  const { texts, words } = context
  if (content === null) return null
  const things = contentText(notice, context)
  const isSending = arrived !== null && (things === null || arrived.ofFiles !== null)
  if (things === null && !isSending) return texts.folder.empty
  const said = texts.madeLink[isSending ? 'sending' : 'sent']
  const form = sender === null ? said.bare : sender.isAccount ? said.byAccount : said.byGuest
  const values = {
    sender: <bdi>{sender?.name}</bdi>,
    content: things === null ? '' : `${things} (${words.size(content.bytes)})`,
  }
  return <Filled text={form} values={values} />
}

/** `3 photos and 2 videos`, also as the title of what has no name. Null for nothing. */
export function contentText({ content }: LinkNotice, { texts, words }: PageContext): string | null {
  const { kinds, and } = texts.madeLink
  const [first, second] = (content?.kinds ?? []).map(({ kind, count }) => words.count(count, kinds[kind]))
  if (first === undefined) return null
  return second === undefined ? first : fill(and, { first, second })
}

/** The time is last in its line, or where space is short alone in it: the script's time in the reader's zone has another width. */
function Until({ notice: { content, endsThisYear }, endsAt, context }: Props & { readonly endsAt: string }) {
  const { here, ends } = context.texts.madeLink
  const files = content?.files ?? 0
  const text = files === 0 ? ends : files === 1 ? here.one : here.other
  const Time = endsThisYear ? WeekdayMoment : Moment
  return (
    <p className="link-until">
      <Filled
        text={text}
        values={{
          moment: (
            <>
              <br />
              <Time context={context} iso={endsAt} />
            </>
          ),
        }}
      />
    </p>
  )
}

function Message({ message, context: { texts } }: Pick<Props, 'context'> & { readonly message: string }) {
  return (
    <blockquote aria-label={texts.madeLink.message} className="link-message" dir="auto">
      {message}
    </blockquote>
  )
}

function arrivedText(
  { files, ofFiles, bytes, ofBytes }: NonNullable<LinkNotice['arrived']>,
  { words, texts }: PageContext,
): string {
  if (ofFiles === null) return texts.madeLink.moreMayCome
  const count = fill(words.count(ofFiles, texts.madeLink.arrived), { here: words.number(files) })
  if (ofBytes === null) return count
  return `${count} ${fill(texts.madeLink.arrivedBytes, { here: words.size(bytes), all: words.size(ofBytes) })}`
}
