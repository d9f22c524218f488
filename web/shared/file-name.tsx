/**
 * A name that gives way in its middle where the room is short, so that its ending stays. The text of the element is
 * the whole name.
 */
export function FileName({ name }: { name: string }) {
  const [start, end] = splitName(name)
  return (
    <bdi className="name" title={name}>
      <span className="name-start">{start}</span>
      <span className="name-end">{end}</span>
    </bdi>
  )
}

/** The ending is the extension and what of the last letters before it may be cut off without changing their form. */
export function splitName(name: string): readonly [start: string, end: string] {
  const extension = /\.[^.\s]{1,10}$/u.exec(name)?.[0] ?? ''
  const stem = name.slice(0, name.length - extension.length)
  // Letters of joined scripts and combining marks must stay with their neighbours.
  const tail = /[\x21-\x7e]{1,6}$/.exec(stem)?.[0] ?? ''
  const cut = stem.length - tail.length
  return [name.slice(0, cut), name.slice(cut)]
}
