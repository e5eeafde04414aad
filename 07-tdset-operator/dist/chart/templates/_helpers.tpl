{{/*
Shared by several templates. Names don't depend on the release's name, because the manager has some of them in its code (cmd/webhooks.go).
A cluster has one CRD, so it has one operator.
*/}}

{{/* The labels of every object that has labels in config/. */}}
{{- define "tdset-operator.labels" -}}
app.kubernetes.io/name: tdset-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The labels of the manager's Pods, which selectors use. */}}
{{- define "tdset-operator.podLabels" -}}
control-plane: controller-manager
app.kubernetes.io/name: tdset-operator
{{- end }}

{{/* Not empty if the manager creates the webhook's certificate. */}}
{{- define "tdset-operator.rotates" -}}
{{- if and .Values.webhooks.enable (eq .Values.webhooks.certificates "rotation") }}true{{ end }}
{{- end }}

{{/* Not empty if cert-manager creates it. */}}
{{- define "tdset-operator.certManager" -}}
{{- if and .Values.webhooks.enable (eq .Values.webhooks.certificates "certManager") }}true{{ end }}
{{- end }}

{{/* The name of the certificate's Secret. */}}
{{- define "tdset-operator.certSecret" -}}
{{- if include "tdset-operator.rotates" . }}tdset-operator-{{ end }}webhook-server-cert
{{- end }}

{{/* The subject of every binding: the manager's ServiceAccount. */}}
{{- define "tdset-operator.subjects" -}}
- kind: ServiceAccount
  name: tdset-operator-controller-manager
  namespace: {{ .Release.Namespace }}
{{- end }}

{{/* Who converts TDSets between their versions. */}}
{{- define "tdset-operator.conversion" -}}
strategy: Webhook
webhook:
  clientConfig:
    service:
      name: tdset-operator-webhook-service
      namespace: {{ .Release.Namespace }}
      path: /convert
  conversionReviewVersions:
  - v1
{{- end }}
