import { type Command, InvalidArgumentError } from 'commander'
import { printLines } from './output.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

interface Level {
  /** Words after `holdfast`, separated by spaces. */
  readonly path: string
  readonly words: readonly string[]
  /** Subcommands follow; otherwise an argument such as a file may. */
  readonly isGroup: boolean
}

export function completionCommand(completion: Command, holdfast: Command): void {
  completion
    .description('print a script that completes commands and options in a shell')
    .argument('<shell>', SHELLS.join(', '), (text): Shell => {
      const shell = SHELLS.find((each) => each === text)
      if (shell === undefined) throw new InvalidArgumentError(`Allowed are ${SHELLS.join(', ')}.`)
      return shell
    })
    .addHelpText(
      'after',
      [
        '',
        'bash: holdfast completion bash > ~/.local/share/bash-completion/completions/holdfast',
        'zsh:  holdfast completion zsh > "$fpath[1]/_holdfast"',
        'fish: holdfast completion fish > ~/.config/fish/completions/holdfast.fish',
      ].join('\n'),
    )
    .action((shell: Shell) => printLines(scripts[shell](levelsOf(holdfast, ''))))
}

function levelsOf(command: Command, path: string): Level[] {
  const help = command.createHelp()
  const visible = help.visibleCommands(command)
  const options = help.visibleOptions(command).flatMap(({ long }) => (long == null ? [] : [long]))
  const below = visible.flatMap((each) =>
    levelsOf(each, path === '' ? each.name() : `${path} ${each.name()}`),
  )
  return [
    { path, isGroup: visible.length > 0, words: [...visible.map((each) => each.name()), ...options] },
    ...below,
  ]
}

const FUNCTION = `_holdfast() {
  local current="\${COMP_WORDS[COMP_CWORD]}" route='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) continue ;; esac
    [ -n "$(_holdfast_words "\${route:+$route }$word")" ] && route="\${route:+$route }$word"
  done
  COMPREPLY=($(compgen -W "$(_holdfast_words "$route")" -- "$current"))
}
complete -o default -F _holdfast holdfast`

const scripts: Readonly<Record<Shell, (levels: readonly Level[]) => string>> = {
  bash: (levels) => `# bash completion of holdfast\n${chooser(levels)}\n${FUNCTION}`,
  zsh: (levels) =>
    `#compdef holdfast\nautoload -U +X bashcompinit && bashcompinit\n${chooser(levels)}\n${FUNCTION}`,
  fish: (levels) =>
    [
      '# fish completion of holdfast',
      'function __holdfast_at',
      "  set -l words (commandline -opc | string match -v -- '-*')",
      '  test "$words[2..-1]" = "$argv[1]"',
      'end',
      ...levels.map(
        ({ path, words, isGroup }) =>
          `complete -c holdfast${isGroup ? ' -f' : ''} -n '__holdfast_at "${path}"' -a '${words.join(' ')}'`,
      ),
    ].join('\n'),
}

/** The function prints nothing for an unknown path. */
function chooser(levels: readonly Level[]): string {
  const cases = levels.map(({ path, words }) => `    '${path}') printf '%s\\n' ${words.join(' ')} ;;`)
  return ['_holdfast_words() {', '  case $1 in', ...cases, '  esac', '}'].join('\n')
}
