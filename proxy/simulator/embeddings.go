package simulator

// embeddingsBody is one vector for each text; all of them are alike.
func embeddingsBody(r *reply) object {
	vectors := make([]object, r.inputs)
	for i := range vectors {
		vectors[i] = object{"object": "embedding", "index": i, "embedding": []float64{0.5, -0.5, 0.5, -0.5}}
	}
	return object{
		"object": "list", "model": r.truth.Model, "data": vectors,
		"usage": object{"prompt_tokens": r.truth.PromptTokens, "total_tokens": r.truth.PromptTokens},
	}
}
