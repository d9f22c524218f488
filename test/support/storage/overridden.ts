/** The target with some methods replaced. Spreading would lose the methods of a class. */
export function overridden<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      const source = name in methods ? methods : target
      const member: unknown = Reflect.get(source, name)
      return typeof member === 'function' ? member.bind(source) : member
    },
  })
}
