/** A compose file's text as docker compose reads it with these variables. Throws for a required one that is empty. */
export function readCompose(text: string, environment: Readonly<Record<string, string>>): unknown {
  const filled = text.replace(/\$\{(\w+)(:[-?])([^}]*)\}/g, (_, name: string, kind: string, rest: string) => {
    const value = environment[name] ?? ''
    if (value !== '') return value
    if (kind === ':?') throw new Error(`${name}: ${rest}`)
    return rest
  })
  const left = /\$\w*/.exec(filled)
  if (left !== null) throw new Error(`neither required nor with a default: ${left[0]}`)
  return Bun.YAML.parse(filled)
}
