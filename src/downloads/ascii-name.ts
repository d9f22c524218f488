/** Pairs of a lower-case letter and its usual Latin form, for letters that do not decompose into one and an accent. */
const LATIN = 'ß ss æ ae œ oe ø o đ d ð d þ th ł l ħ h ŋ n ŧ t ə e ı i ƒ f'
const CYRILLIC =
  'а a б b в v г g д d е e ж zh з z и i к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh щ shch ы y э e ю yu я ya є ye і i ґ g ђ dj ј j љ lj њ nj ћ c џ dz'
const GREEK =
  'α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o'
const SIGNS = "‘ ' ’ ' ‚ ' “ ' ” ' „ ' « ' » ' ‹ ' › ' ‐ - ‑ - ‒ - – - — - − - × x"

const forms = formsOf(`${LATIN} ${CYRILLIC} ${GREEK} ${SIGNS}`)

/**
 * A name in printable ASCII without quotes and slashes, for programs that read nothing else: accents go, Cyrillic and Greek
 * become Latin, the hard and the soft sign go, and what has no ASCII form becomes `_`, one per character. Extensions in ASCII
 * stay as they are.
 */
export function asciiName(name: string): string {
  const ascii = name
    .normalize('NFKD')
    .replace(/[\p{M}ьъ]/giu, '')
    .replace(/[^\x20-\x7E]/gu, (letter) => forms.get(letter) ?? '_')
    .replace(/["\\/]/g, '_')
  return /^\.{0,2}$/.test(ascii) ? '_' : ascii
}

function formsOf(pairs: string): ReadonlyMap<string, string> {
  const words = pairs.split(' ')
  const found = new Map<string, string>()
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [letter = '', form = ''] = [words[at], words[at + 1]]
    found.set(letter.toUpperCase(), form.charAt(0).toUpperCase() + form.slice(1))
    found.set(letter, form)
  }
  return found
}
