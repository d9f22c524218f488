/**
 * A file name that is truncated in its middle when space is short, so that its ending stays visible. The
 * element's text, which is copied and read aloud, is the whole name; what is seen are its two parts.
 */
export function FileName({ name }: { name: string }) {
  const [start, end] = splitName(name)
  return (
    <bdi className="name" title={name}>
      <span className="off-screen">{name}</span>
      <span aria-hidden="true" className="name-start" data-text={start} />
      <span aria-hidden="true" className="name-end" data-text={end} />
    </bdi>
  )
}

/**
 * Splits a name. The second part is the extension, with a few preceding letters that can be separated without
 * changing their shape.
 */
export function splitName(name: string): readonly [start: string, end: string] {
  const extension = /\.[^.\s]{1,10}$/u.exec(name)?.[0] ?? ''
  const stem = name.slice(0, name.length - extension.length)
  // Letters of cursive scripts and combining marks must stay with their neighbours.
  const tail = /[\x21-\x7e]{1,6}$/.exec(stem)?.[0] ?? ''
  const cut = stem.length - tail.length
  return [name.slice(0, cut), name.slice(cut)]
}
