export type MenuMove = { readonly kind: 'focus'; readonly index: number } | { readonly kind: 'leave' } | null

export interface MenuPress {
  readonly key: string
  readonly timeStamp: number
  readonly isCommand: boolean
}

/** Milliseconds between letters of one search. */
const TYPED_TOGETHER = 500

/**
 * ARIA's menu pattern: arrows, Home, End, letters as a prefix; Escape and Tab close. `focused`: -1 for none.
 */
export function createMenuKeys(): (press: MenuPress, labels: readonly string[], focused: number) => MenuMove {
  let typed = ''
  let typedAt = Number.NEGATIVE_INFINITY

  function search(letter: string, at: number, labels: readonly string[], focused: number): number {
    typed = at - typedAt > TYPED_TOGETHER ? letter : typed + letter
    typedAt = at
    // Repeating a letter moves on to the next item with that initial.
    const isRepeated = [...typed].every((each) => each === letter)
    const wanted = (isRepeated ? letter : typed).toLocaleLowerCase()
    const first = isRepeated ? focused + 1 : Math.max(0, focused)
    const order = labels.map((_, index) => (first + index) % labels.length)
    return order.find((index) => labels[index]?.trim().toLocaleLowerCase().startsWith(wanted)) ?? -1
  }

  return ({ key, timeStamp, isCommand }, labels, focused) => {
    const count = labels.length
    if (key === 'Escape' || key === 'Tab') return { kind: 'leave' }
    if (isCommand || count === 0) return null
    switch (key) {
      case 'ArrowDown':
        return { kind: 'focus', index: (focused + 1) % count }
      case 'ArrowUp':
        return { kind: 'focus', index: (Math.max(focused, 0) - 1 + count) % count }
      case 'Home':
        return { kind: 'focus', index: 0 }
      case 'End':
        return { kind: 'focus', index: count - 1 }
    }
    if ([...key].length !== 1 || (key === ' ' && timeStamp - typedAt > TYPED_TOGETHER)) return null
    const index = search(key, timeStamp, labels, focused)
    return index < 0 ? null : { kind: 'focus', index }
  }
}
