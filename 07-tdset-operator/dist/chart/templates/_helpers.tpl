{{/*
What several templates need. Names are the same whatever the release is called: the manager knows some of them (cmd/webhooks.go), and a
cluster has one CRD, so one operator.
*/}}

{{/* The labels of every object that has some in config/. */}}
{{- define "tdset-operator.labels" -}}
app.kubernetes.io/name: tdset-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The labels of the manager's Pods: by these they are selected. */}}
{{- define "tdset-operator.podLabels" -}}
control-plane: controller-manager
app.kubernetes.io/name: tdset-operator
{{- end }}

{{/* Not empty if the manager makes the webhook's certificate. */}}
{{- define "tdset-operator.rotates" -}}
{{- if and .Values.webhooks.enable (eq .Values.webhooks.certificates "rotation") }}true{{ end }}
{{- end }}

{{/* Not empty if cert-manager makes it. */}}
{{- define "tdset-operator.certManager" -}}
{{- if and .Values.webhooks.enable (eq .Values.webhooks.certificates "certManager") }}true{{ end }}
{{- end }}

{{/* The Secret that has it. */}}
{{- define "tdset-operator.certSecret" -}}
{{- if include "tdset-operator.rotates" . }}tdset-operator-{{ end }}webhook-server-cert
{{- end }}

{{/* The account that bindings give rights to. */}}
{{- define "tdset-operator.subjects" -}}
- kind: ServiceAccount
  name: tdset-operator-controller-manager
  namespace: {{ .Release.Namespace }}
{{- end }}
