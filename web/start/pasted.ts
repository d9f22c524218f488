import { isoMoment, zoneHere } from '../../src/domain/days.ts'
import { byItself, type Picked } from '../uploads/picked.ts'

/** The names that pasted things get. */
export interface PastedNames {
  /** `Pasted image` */
  readonly image: string
  /** `Pasted text` */
  readonly text: string
}

/** Browsers call every picture of the clipboard `image.png`. */
const UNNAMED = /^image\.(\w+)$/

/** Files and pictures from the clipboard; a text becomes a file of its own. */
export function pastedFiles(pasted: DataTransfer, names: PastedNames, now: Date): Picked[] {
  const files = [...pasted.files]
  if (files.length > 0) {
    let pictures = 0
    return files.map((file) => {
      const [, ending] = UNNAMED.exec(file.name) ?? []
      if (ending === undefined) return byItself(file)
      pictures += 1
      // Several of one moment are told apart by their names.
      const number = pictures === 1 ? '' : ` (${pictures})`
      const name = `${names.image} ${moment(now)}${number}.${ending}`
      return byItself(new File([file], name, { type: file.type, lastModified: now.getTime() }))
    })
  }
  const text = pasted.getData('text/plain')
  if (text.trim() === '') return []
  return [textFile(text, '', names, now)]
}

/** The text as a file, which is called by its beginning where nobody has `named` it. */
export function textFile(text: string, named: string, names: PastedNames, now: Date): Picked {
  const name = named === '' ? `${firstLine(text) ?? `${names.text} ${moment(now)}`}.txt` : named
  return byItself(new File([text], name, { type: 'text/plain', lastModified: now.getTime() }))
}

/** The beginning of a text as a name, where it has one that says something. */
function firstLine(text: string): string | null {
  const [line = ''] = text.trim().split('\n', 1)
  const name = line
    .replaceAll(/[\p{Cc}\p{Cf}/\\:*?"<>|]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  if (!/\p{L}{2}/u.test(name)) return null
  if (name.length <= 40) return name.replace(/[. ]+$/, '')
  return name.slice(0, 40).replace(/\s+\S*$/, '')
}

/** `2026-03-12 14.05.33`, in local time, in characters that every system takes in a name. */
function moment(now: Date): string {
  return isoMoment(now.getTime(), zoneHere()).replaceAll(':', '.')
}
