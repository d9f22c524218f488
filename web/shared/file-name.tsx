/** The element's text, copied and read aloud, is the whole name; its two parts are visible. */
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

/** The end is the extension with a few letters that can be separated without changing their shape. */
export function splitName(name: string): readonly [start: string, end: string] {
  const extension = /\.[^.\s]{1,10}$/u.exec(name)?.[0] ?? ''
  const stem = name.slice(0, name.length - extension.length)
  // Letters of cursive scripts and combining marks must stay with their neighbours.
  const tail = /[\x21-\x7e]{1,6}$/.exec(stem)?.[0] ?? ''
  const cut = stem.length - tail.length
  return [name.slice(0, cut), name.slice(cut)]
}
