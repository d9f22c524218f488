import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { FileName } from '../../../web/shared/file-name.tsx'
import type { FolderViewMode } from '../folder-query.ts'
import type { FolderPageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { Day } from './times.tsx'

type File = FolderPageView['files'][number]

/**
 * Download programs read `data-name`, `data-size` (bytes), `data-date` (ISO 8601) and the address in
 * `onclick`, and parse an item from `class="file-item"` to the next `</button>`: the class must come first,
 * and the only button last. People use the link, which covers the whole item.
 */
export function FileItemView(props: { file: File; look: FolderViewMode; context: PageContext }) {
  const { file, look } = props
  const { words, texts } = props.context
  return (
    <li
      className="file-item"
      data-name={file.name}
      data-size={file.size}
      data-date={file.createdAt}
      data-opens={file.path}
      data-type={file.type}
      style={file.pixels === null ? undefined : ratioOf(file.pixels)}
    >
      <span className={file.isIcon ? 'thumbnail icon' : 'thumbnail'}>
        <Thumbnail file={file} look={look} />
        {file.type.startsWith('video/') ? <PlayMark /> : null}
      </span>
      <a className="file-link" href={file.path}>
        <FileName name={file.name} />
      </a>
      <span className="small quiet size">{words.size(file.size)}</span>
      <Day className="small quiet" context={props.context} iso={file.createdAt} />
      <span className={`small quiet downloads${file.downloads === 0 ? ' none' : ''}`}>
        {words.count(file.downloads, texts.folder.downloads)}
      </span>
      <button
        aria-label={`${texts.file.download}: ${file.name}`}
        className="save"
        form={SAVE_FORM}
        formAction={file.path}
        name="download"
        type="submit"
        value="1"
      >
        <Drawing of="download" />
        <span className="save-word">{texts.file.download}</span>
      </button>
    </li>
  )
}

type Pixels = NonNullable<File['pixels']>

/** The style sheet makes the item as wide as the picture. React knows no type for custom properties. */
function ratioOf({ width, height }: Pixels): object {
  return { '--ratio': (width / height).toFixed(3) }
}

/** Of an icon, and of a picture whose shape is unknown. */
const SQUARE = { width: 320, height: 320 }

function Thumbnail({ file, look }: { file: File; look: FolderViewMode }) {
  const { thumbnailUrl, pixels, renditions } = file
  const { width, height } = pixels ?? SQUARE
  return (
    <img
      alt=""
      decoding="async"
      height={height}
      loading="lazy"
      sizes={pixels === null ? undefined : sizesOf(pixels, look)}
      src={thumbnailUrl}
      // The viewer of pictures takes them too.
      srcSet={renditions.map(({ address, width: wide }) => `${address} ${wide}w`).join(', ') || undefined}
      width={width}
    />
  )
}

/** Widths on the page, by the heights of rows in the style sheet; rows grow by some until they are full. */
function sizesOf({ width, height }: Pixels, look: FolderViewMode): string {
  if (look === 'list') return '44px'
  const ratio = width / height
  return `(min-width: 640px) ${Math.ceil(Math.min(ratio, 3) * 240)}px, ${Math.ceil(Math.min(ratio, 1.5) * 34)}vw`
}

const SAVE_FORM = 'save'

/** One form for all items' buttons, which so work without scripts. `once`: see `DownloadForm`. */
export function SaveForm({ once }: { once: string | null }) {
  if (once === null) return <form id={SAVE_FORM} method="get" />
  return (
    <form id={SAVE_FORM} method="post">
      <input name="once" type="hidden" value={once} />
    </form>
  )
}

function PlayMark() {
  return (
    <span className="play">
      <Drawing of="play" />
    </span>
  )
}

/**
 * Turns `data-opens` into the `onclick` that download programs look for: React drops event attributes that
 * are text. No browser runs it, because the content security policy forbids inline scripts. React escapes
 * quotation marks in values, so only our own attributes match.
 */
export function withOnclick(html: string): string {
  return html.replace(/ data-opens="(\/[A-Za-z0-9/-]+)"/g, ` onclick="window.location.href='$1'"`)
}
