{{- define "loadline.fullname" -}}
{{- $name := .Values.fullnameOverride | default (contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name)) -}}
{{- $name | trunc 45 | trimSuffix "-" -}}
{{- end }}

{{- /* What pods of a part are found by. Takes (list $ "part"), as the next three. */ -}}
{{- define "loadline.selector" -}}
{{- $root := first . -}}
app.kubernetes.io/name: {{ $root.Chart.Name }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ last . }}
{{- end }}

{{- define "loadline.labels" -}}
{{- $root := first . -}}
{{ include "loadline.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: {{ $root.Chart.Name }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end }}

{{- /* The beginning of every pod: what it may not do, and where it runs. */ -}}
{{- define "loadline.pod" -}}
{{- $root := first . -}}
{{- $part := get $root.Values (last .) -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  {{- with $root.Values.runAsUser }}
  runAsUser: {{ int64 . }}
  runAsGroup: {{ int64 . }}
  fsGroup: {{ int64 . }}
  {{- end }}
  seccompProfile:
    type: RuntimeDefault
  {{- with $part.sysctls }}
  sysctls:
    {{- range $name, $value := . }}
    - name: {{ $name }}
      value: {{ $value | quote }}
    {{- end }}
  {{- end }}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with get $part $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- /* The same of every container. */ -}}
{{- define "loadline.container" -}}
{{- $root := first . -}}
resources:
  {{- toYaml (get $root.Values (last .)).resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "loadline.image" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{- /* The Secret with the address of the NATS; empty where the address is no secret. */ -}}
{{- define "loadline.urlSecret" -}}
{{- if .Values.nats.urlSecret.name -}}
{{ .Values.nats.urlSecret.name }}
{{- else if .Values.nats.enabled -}}
{{ include "loadline.fullname" . }}-nats
{{- end }}
{{- end }}

{{- /* The address as an argument; that of a Secret by way of the variable below. */ -}}
{{- define "loadline.url" -}}
{{- if include "loadline.urlSecret" . -}} $(NATS_URL) {{- else -}} {{ .Values.nats.url }} {{- end -}}
{{- end }}

{{- define "loadline.urlVariable" -}}
{{- with include "loadline.urlSecret" . }}
- name: NATS_URL
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $.Values.nats.urlSecret.key }}
{{- end }}
{{- end }}

{{- /* What else proves who one is: the value that names its Secret, and the flag that takes it as a file of that name. */ -}}
{{- define "loadline.proofs" -}}
{credentialsSecret: --nats-creds, nkeySecret: --nats-nkey, caSecret: --nats-ca}
{{- end }}

{{- define "loadline.proofFlags" -}}
{{- range $value, $flag := include "loadline.proofs" . | fromYaml }}
{{- if (get $.Values.nats $value).name }}
- {{ $flag }}
- /etc/loadline/{{ $value }}
{{- end }}
{{- end }}
{{- end }}

{{- define "loadline.proofSources" -}}
{{- range $value, $flag := include "loadline.proofs" . | fromYaml }}
{{- with get $.Values.nats $value }}
{{- if .name }}
- secret:
    name: {{ .name }}
    items:
      - key: {{ .key }}
        path: {{ $value }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "loadline.proofMount" -}}
{{- if include "loadline.proofSources" . }}
- name: proofs
  mountPath: /etc/loadline
  readOnly: true
{{- end }}
{{- end }}

{{- define "loadline.proofVolume" -}}
{{- with include "loadline.proofSources" . }}
- name: proofs
  projected:
    sources:
      {{- . | trim | nindent 6 }}
{{- end }}
{{- end }}

{{- /* What no schema can say, since it is about several values. */ -}}
{{- define "loadline.check" -}}
{{- $nats := .Values.nats -}}
{{- $proofs := or $nats.credentialsSecret.name $nats.nkeySecret.name $nats.caSecret.name -}}
{{- if and $nats.enabled (or $nats.url $proofs) -}}
{{- fail "nats.enabled makes a NATS with a token, and nats.url or a Secret with credentials, an NKey or certificates is about another one: set nats.enabled=false, or leave them out" -}}
{{- end -}}
{{- if and (not $nats.enabled) (eq (empty $nats.url) (empty $nats.urlSecret.name)) -}}
{{- fail "nats.enabled is false: give the address of another NATS in nats.url or in nats.urlSecret.name, and in one of them only" -}}
{{- end -}}
{{- if and $nats.credentialsSecret.name $nats.nkeySecret.name -}}
{{- fail "nats.credentialsSecret and nats.nkeySecret both say who one is: give one of them" -}}
{{- end -}}
{{- if and .Values.agents.enabled (not .Values.agents.allowTargets) -}}
{{- fail "agents.allowTargets is empty: name the servers that the agents may load, such as --set 'agents.allowTargets={api.shop.svc}'" -}}
{{- end -}}
{{- with .Values.run -}}
{{- if and .enabled (not .args) -}}
{{- fail "run.args is empty: give the words behind 'loadline', such as --set-json 'run.args=[\"run\",\"-c\",\"100\",\"-d\",\"1m\",\"http://api.shop.svc/\"]'" -}}
{{- end -}}
{{- if and .enabled $.Values.agents.enabled $.Release.IsInstall -}}
{{- fail "run.enabled with agents that are installed at the same time: the run would be there before them; install the agents first, then helm upgrade with run.enabled=true, or a release for the run alone with agents.enabled=false" -}}
{{- end -}}
{{- if and .results.existingClaim .results.size -}}
{{- fail "run.results names a claim that is there (existingClaim) and the size of one that is to be made (size): give one of them" -}}
{{- end -}}
{{- end -}}
{{- end }}
