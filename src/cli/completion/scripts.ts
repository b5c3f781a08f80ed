/** The scripts with which shells ask idv for suggestions. A suggestion is a line: word, tab, meaning; or `:files`. */

export const scripts: Readonly<Record<string, string>> = {
  bash: `# idv: completion for bash. Add to ~/.bashrc: eval "$(idv completion bash)"
_idv() {
  local IFS=$'\\n' cur=\${COMP_WORDS[COMP_CWORD]} line
  [[ $cur == "=" ]] && cur=
  local lines=($(idv completion suggest -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  COMPREPLY=()
  if [[ \${lines[0]} == :files ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$cur"))
    return
  fi
  for line in "\${lines[@]}"; do
    line=\${line%%$'\\t'*}
    [[ $line =~ ^[[:alnum:]_=,.@+-]*$ ]] || line=$(printf '%q' "$line")
    COMPREPLY+=("$line")
  done
}
complete -F _idv idv
`,
  zsh: `#compdef idv
# idv: completion for zsh. Add to ~/.zshrc, after compinit: eval "$(idv completion zsh)"
_idv() {
  local -a lines described
  local line
  lines=("\${(@f)$(idv completion suggest -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $lines[1] == :files ]]; then
    [[ $PREFIX == --*=* ]] && compset -P 1 '*='
    _files
    return
  fi
  for line in $lines; do
    [[ -n $line ]] && described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  (( $#described )) && _describe -t values idv described
}
compdef _idv idv
`,
  fish: `# idv: completion for fish. Save as ~/.config/fish/completions/idv.fish
function __idv_suggest
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (idv completion suggest -- $words[2..-1] 2>/dev/null)
    if test "$lines[1]" = :files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $lines
    end
end
complete -c idv -f -a '(__idv_suggest)'
`,
  powershell: `# idv: completion for PowerShell. Add to $PROFILE: idv completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName idv -ScriptBlock {
    param($word, $ast, $cursor)
    $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($word -eq '') { $words += '' }
    $lines = @(idv completion suggest -- @words 2>$null)
    if ($lines[0] -eq ':files') { return [System.Management.Automation.CompletionCompleters]::CompleteFilename($word) }
    foreach ($line in $lines) {
        $value, $meaning = $line -split "\`t", 2
        if (-not $meaning) { $meaning = $value }
        $word = if ($value -match '^[\\w,.=/@+-]*$') { $value } else { "'" + $value.Replace("'", "''") + "'" }
        [System.Management.Automation.CompletionResult]::new($word, $value, 'ParameterValue', $meaning)
    }
}
`,
};
